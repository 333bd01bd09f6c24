/**
 * Traces, exported over OTLP if OTEL_EXPORTER_OTLP_ENDPOINT is set; otherwise there is no tracing, and nothing of the SDK is loaded. The id of a
 * trace is that of its request, so that whatever knows the request continues the trace, in any process: an id of a request is a ULID, which
 * has the size of the id of a trace.
 */
export type SpanKindName = 'server' | 'client' | 'consumer'

export type SpanDetails = {
  name: string
  kind: SpanKindName
  /** The request whose trace it belongs to; null for a trace of its own. */
  requestId: string | null
  startedAt: Date
  attributes: Record<string, string | number>
}

export type Ended = { elapsedMs: number; failed: boolean; attributes?: Record<string, string | number> }

export type Tracing = AsyncDisposable & {
  /** Exports the span of a request, which the other spans of its trace are children of. `caller`: the `traceparent` that it came with. */
  request(details: SpanDetails & { requestId: string }, ended: Ended, caller: string | undefined): void
  /** Exports a span that is over. */
  record(details: SpanDetails, ended: Ended): void
  /** Begins a span, for what carries `traceparent` to another server. */
  begin(details: SpanDetails): { traceparent: string; end(ended: Ended): void }
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const BITS_PER_LETTER = 5n
const TRACE_ID_MASK = (1n << 128n) - 1n
const TRACE_ID_LENGTH = 32
const SPAN_ID_LENGTH = 16

/** The ids of the trace of a request and of the span of the request itself. */
export function traceOf(requestId: string): { traceId: string; spanId: string } {
  const ulid = requestId.slice(requestId.indexOf('_') + 1)
  let bits = 0n
  for (const letter of ulid) bits = (bits << BITS_PER_LETTER) | BigInt(Math.max(0, ALPHABET.indexOf(letter)))
  const traceId = (bits & TRACE_ID_MASK).toString(16).padStart(TRACE_ID_LENGTH, '0')
  return { traceId, spanId: traceId.slice(-SPAN_ID_LENGTH) }
}
