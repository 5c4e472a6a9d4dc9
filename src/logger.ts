import { type DestinationStream, destination, type Logger as PinoLogger, pino } from 'pino'
import type { Config } from './config/config.ts'

export type Logger = PinoLogger

/**
 * The log of the process: one JSON object a line on standard error, so that standard output stays for answers. It
 * carries ids and codes, never a customer's words.
 */
export function createLogger(
  level: Config['logLevel'],
  stream: DestinationStream = destination({ dest: 2, sync: true }),
): Logger {
  const serializers = {
    err: (error: unknown) =>
      level !== 'debug' && isForeseen(error)
        ? summaryOf(error)
        : pino.stdSerializers.err(Object(error)),
  }
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers }, stream)
}

/** Errors of our own that say what to do: where they were thrown helps nobody, unless everything is logged. */
function isForeseen(error: unknown): error is Error {
  return error instanceof Error && ['ModelFailed', 'ServiceError'].includes(error.name)
}

function summaryOf(error: Error) {
  const { name: type, message } = error
  return { type, message, ...('code' in error && { code: error.code }) }
}
