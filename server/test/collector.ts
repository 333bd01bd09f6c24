/** A collector of OpenTelemetry, which keeps the spans that it gets over OTLP. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CollectedSpan = { name: string; traceId: string; spanId: string; parentId: string; links: string[] }

export type Collector = AsyncDisposable & { url: string; spans: CollectedSpan[]; headers: Record<string, unknown>[] }

/** Starts a collector. */
export async function openCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const headers: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    headers.push({ ...request.headers, path: request.url })
    spans.push(...spansOf(Buffer.concat(chunks)))
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The numbers are those of `trace.proto`: resource spans, scope spans, spans, and the members of a span. */
const spansOf = (request: Buffer): CollectedSpan[] =>
  fieldsOf(request, 1)
    .flatMap((resource) => fieldsOf(resource, 2))
    .flatMap((scope) => fieldsOf(scope, 2))
    .map((span) => {
      const hex = (field: number) => fieldsOf(span, field)[0]?.toString('hex') ?? ''
      return {
        name: fieldsOf(span, 5)[0]?.toString('utf8') ?? '',
        traceId: hex(1),
        spanId: hex(2),
        parentId: hex(4),
        links: fieldsOf(span, 13).map((link) => fieldsOf(link, 1)[0]?.toString('hex') ?? ''),
      }
    })

/** The values of a field with a length in a message of Protocol Buffers. */
function fieldsOf(message: Buffer, wanted: number): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < message.length; ) {
    const [tag, afterTag] = varintAt(message, at)
    const type = tag & 7
    if (type === 0) at = varintAt(message, afterTag)[1]
    else if (type === 1) at = afterTag + 8
    else if (type === 5) at = afterTag + 4
    else {
      const [length, start] = varintAt(message, afterTag)
      at = start + length
      if (tag >> 3 === wanted) found.push(message.subarray(start, at))
    }
  }
  return found
}

function varintAt(message: Buffer, start: number): [value: number, next: number] {
  let value = 0
  for (let at = start, scale = 1; ; at++, scale *= 128) {
    const byte = message[at] ?? 0
    value += (byte & 127) * scale
    if (byte < 128) return [value, at + 1]
  }
}
