import type { Command } from './command.ts'
import type { Shell } from './shell.ts'

export const metricsOption = {
  usage: '--metrics-port <PORT>',
  text: 'where figures for Prometheus are read, at STEPWARDEN_METRICS_HOST (default: STEPWARDEN_METRICS_PORT, else nowhere)',
} as const satisfies NonNullable<Command['options']>[number]

/** Opens the listener for figures, if there is to be one, and says where it is. */
export async function openMetrics({
  meter,
  config,
  terminal,
}: Shell): Promise<AsyncDisposable | undefined> {
  const { port, ...at } = config.telemetry?.metrics ?? {}
  if (meter === undefined || port === undefined) return undefined
  const { listenForMetrics } = await import('../http/metrics.ts')
  const listener = await listenForMetrics(meter, { host: '127.0.0.1', ...at, port })
  terminal.notice(`Figures for Prometheus are at ${listener.address}.`)
  return listener
}
