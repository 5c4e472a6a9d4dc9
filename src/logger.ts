import { type DestinationStream, destination, type Logger as PinoLogger, pino } from 'pino'
import type { Config } from './config/config.ts'

export type Logger = PinoLogger

/**
 * The log of the process: one JSON object a line on standard error, so that standard output stays for answers. It
 * carries ids and codes, never a customer's words. `isForeseen`: errors besides those of our own of which a line is enough.
 */
export function createLogger(
  level: Config['logLevel'],
  stream: DestinationStream = destination({ dest: 2, sync: true }),
  isForeseen: (error: unknown) => boolean = () => false,
): Logger {
  const serializers = {
    err: (error: unknown) =>
      level !== 'debug' && error instanceof Error && (isOwn(error) || isForeseen(error))
        ? summaryOf(error)
        : pino.stdSerializers.err(Object(error)),
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

/** Of a host with several addresses, each of which refuses, the whole has no message of its own. */
function firstMessage({ errors: [first] }: AggregateError): string {
  return first instanceof Error ? first.message : ''
}

function shortened(text: string): string {
  return text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text
}
