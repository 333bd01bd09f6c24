/** The part of tracing that needs the SDK of OpenTelemetry. Loaded only when traces are exported. */
import { randomBytes } from 'node:crypto'
import { type Link, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-node'
import { VERSION } from '../../lib/versions.ts'
import type { Config } from './config.ts'
import { type Ended, type SpanDetails, type Tracing, traceOf } from './tracing.ts'

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER }
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
const TRACE_ID_BYTES = 16
const SPAN_ID_BYTES = 8

type Ids = { traceId: string; spanId: string }

/** Exports spans in the background, until it is disposed of. What is left is exported then. */
export function startSdk(config: Config): Tracing {
  let chosen: Ids | undefined
  const exporter = new OTLPTraceExporter({
    url: `${config.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/$/, '')}/v1/traces`,
    headers: headersOf(config.OTEL_EXPORTER_OTLP_HEADERS),
  })
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': config.OTEL_SERVICE_NAME, 'service.version': VERSION }),
    // By the id of the trace and not by the parent, because the span of the request can be one of another process.
    sampler: new TraceIdRatioBasedSampler(config.OTEL_TRACES_SAMPLER_ARG),
    idGenerator: {
      generateTraceId: () => chosen?.traceId ?? randomBytes(TRACE_ID_BYTES).toString('hex'),
      generateSpanId: () => chosen?.spanId ?? randomBytes(SPAN_ID_BYTES).toString('hex'),
    },
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  const tracer = provider.getTracer('carillon', VERSION)
  const start = ({ name, kind, requestId, startedAt, attributes }: SpanDetails): Span => {
    const options = { kind: KINDS[kind], startTime: startedAt, attributes }
    if (requestId === null) return tracer.startSpan(name, { ...options, root: true }, ROOT_CONTEXT)
    const parent = { ...traceOf(requestId), traceFlags: TraceFlags.SAMPLED, isRemote: true }
    return tracer.startSpan(name, options, trace.setSpanContext(ROOT_CONTEXT, parent))
  }
  return {
    request({ name, kind, requestId, startedAt, attributes }, ended, caller) {
      chosen = traceOf(requestId)
      const span = tracer.startSpan(
        name,
        { kind: KINDS[kind], startTime: startedAt, attributes, links: linksOf(caller), root: true },
        ROOT_CONTEXT,
      )
      chosen = undefined
      end(span, startedAt, ended)
    },
    record: (details, ended) => end(start(details), details.startedAt, ended),
    begin(details) {
      const span = start(details)
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        end: (ended) => end(span, details.startedAt, ended),
      }
    },
    [Symbol.asyncDispose]: () => provider.shutdown(),
  }
}

function end(span: Span, startedAt: Date, { elapsedMs, failed, attributes = {} }: Ended): void {
  span.setAttributes(attributes)
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(startedAt.getTime() + elapsedMs)
}

/** The caller is outside of this system, so that its trace is linked and not continued (D-OPS-2). */
function linksOf(caller: string | undefined): Link[] {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(caller ?? '') ?? []
  return traceId && spanId && flags ? [{ context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } }] : []
}

/** `name=value` pairs, as the specification of OpenTelemetry has them. */
const headersOf = (pairs: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), decodeURIComponent(pair.slice(pair.indexOf('=') + 1).trim())]),
  )
