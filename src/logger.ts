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
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream)
}
