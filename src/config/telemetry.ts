import { z } from 'zod'
import { Secret } from './secret.ts'

/** Where traces are sent. */
export interface TracesConfig {
  /** Of a collector that takes OTLP over HTTP. */
  readonly url: string
  readonly serviceName: string
}

/** How figures can be read. */
export interface MetricsConfig {
  /** Whoever shows it may read `/metrics`; absent: that is not there at the HTTP door. */
  readonly token?: Secret
  /** Where a listener of their own is; absent: there is none. */
  readonly port?: number
  readonly host: string
}

/** What is told to those who run the service. */
export interface TelemetryConfig {
  /** Absent: nothing is traced. */
  readonly traces?: TracesConfig
  readonly metrics: MetricsConfig
}

const collector = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'must be an http or https URL',
  )

/** The variables of the environment that say what is told, and to whom. */
export const telemetryVariables = {
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_SERVICE_NAME: z.string().min(1).max(200).default('stepwarden'),
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.optional(),
  STEPWARDEN_METRICS_TOKEN: z
    .string()
    .regex(/^[!-~]{16,500}$/, 'must be 16 to 500 printable ASCII characters without spaces')
    .optional(),
  STEPWARDEN_METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  STEPWARDEN_METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
}

type Variables = z.infer<z.ZodObject<typeof telemetryVariables>>

export function toTelemetryConfig({
  OTEL_SDK_DISABLED: disabled,
  OTEL_SERVICE_NAME: serviceName,
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own,
  STEPWARDEN_METRICS_TOKEN: token,
  STEPWARDEN_METRICS_HOST: host,
  STEPWARDEN_METRICS_PORT: port,
}: Variables): TelemetryConfig {
  // As OpenTelemetry has it: the general one is a base, that of traces is the whole URL.
  const url = own ?? (endpoint && `${endpoint.replace(/\/+$/, '')}/v1/traces`)
  const isDisabled = disabled?.toLowerCase() === 'true'
  return {
    ...(url !== undefined && !isDisabled && { traces: { url, serviceName } }),
    metrics: {
      host,
      ...(token !== undefined && { token: new Secret(token) }),
      ...(port !== undefined && { port }),
    },
  }
}
