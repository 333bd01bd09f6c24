import type { Config } from './config.ts'
import type { Tracing } from './tracing.ts'

/** Begins to export traces. Undefined without an endpoint: then the SDK is not loaded. */
export const openTracing = async (config: Config): Promise<Tracing | undefined> =>
  config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined ? undefined : (await import('./tracing-sdk.ts')).startSdk(config)
