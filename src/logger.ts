import { type DestinationStream, destination, type Logger as PinoLogger, pino } from 'pino'
import type { Config } from './config/config.ts'

export type Logger = PinoLogger

/**
 * The log of the process: one JSON object a line on standard error, so that standard output stays for answers. It
 * carries ids and codes, never a customer's words; at `debug` alone it has errors whole, which may quote them. `isForeseen`:
 * errors besides those of our own of which a line is enough.
 */
export function createLogger(
  level: Config['logLevel'],
  stream: DestinationStream = destination({ dest: 2, sync: true }),
  isForeseen: (error: unknown) => boolean = () => false,
): Logger {
  const serializers = {
    err(error: unknown) {
      if (level === 'debug' || !(error instanceof Error))
        return pino.stdSerializers.err(Object(error))
      return isOwn(error) || isForeseen(error) ? summaryOf(error) : reportOf(error)
    },
  }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers }, stream)
}

/** Errors of our own that say what to do: where they were thrown helps nobody, unless everything is logged. */
function isOwn({ name }: Error): boolean {
  return ['ModelFailed', 'ServiceError'].includes(name)
}

/** The longest message of an error that is foreseen, in characters. */
const maxMessageLength = 500

function summaryOf(error: Error) {
  const { name: type, message } = error
  const text = message === '' && error instanceof AggregateError ? firstMessage(error) : message
  return { type, message: shortened(text), ...('code' in error && { code: error.code }) }
}

/** What else is told of an error. Drivers add the values of a row, the text of a statement and more. */
const toldFields = [
  'code',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'syscall',
]
const maxCauses = 5

/** An error that nobody foresaw: where it comes from, and no value that it is about. */
function reportOf(error: Error, depth = 0): object {
  const { name: type, cause } = error
  const told = Object.entries(error).filter(([name]) => toldFields.includes(name))
  const own = { type, message: shortened(plainMessage(error)), stack: stackOf(error) }
  const first = error instanceof AggregateError ? error.errors[0] : undefined
  const below = cause ?? first
  return {
    ...own,
    ...Object.fromEntries(told),
    ...(below instanceof Error && depth < maxCauses && { cause: reportOf(below, depth + 1) }),
  }
}

/** Parsers quote what they cannot read, and a database what it cannot take (SQLSTATE classes 22 and 23). */
function plainMessage(error: Error): string {
  const code = 'code' in error ? String(error.code) : ''
  const quotes = error instanceof SyntaxError || /^2[23][0-9A-Z]{3}$/.test(code)
  return quotes ? 'It is about a value, which is not shown here.' : error.message
}

/** A stack begins with the message, which may have lines that look like anything. */
function stackOf({ stack = '', message }: Error): string {
  const at = stack.indexOf(message)
  return stack.slice(at === -1 ? 0 : at + message.length).trimStart()
}

/** Of a host with several addresses, each of which refuses, the whole has no message of its own. */
function firstMessage({ errors: [first] }: AggregateError): string {
  return first instanceof Error ? first.message : ''
}

function shortened(text: string): string {
  return text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text
}
