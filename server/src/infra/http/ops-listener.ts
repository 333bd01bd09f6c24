/** The endpoints for operators on a port of their own, which every role can open: workers have no other one. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Log } from '../runtime/log.ts'
import { type Answer, type Answers, HEADERS } from './operations.ts'

/** Prometheus, probes of an orchestrator and a person need few. */
const CONNECTIONS_MAX = 50
const HEAD_TIMEOUT_MS = 10_000
const UNAVAILABLE = 503

export type OpsListener = AsyncDisposable & { port: number }

/** Listens until it is disposed of. Rejects with the error of the system if it cannot. */
export async function openOpsListener(
  answers: Answers,
  { host, port, log }: { host: string; port: number; log: Log },
): Promise<OpsListener> {
  const server = createServer({ headersTimeout: HEAD_TIMEOUT_MS, requestTimeout: HEAD_TIMEOUT_MS }, (request, response) => {
    answerTo(answers, request).then(
      (answer) => send(response, answer),
      (error) => {
        log.warn({ err: error }, 'an endpoint for operators failed')
        send(response, { status: UNAVAILABLE, type: 'text/plain', body: '' })
      },
    )
  })
  server.maxConnections = CONNECTIONS_MAX
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  await promise
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      server.closeAllConnections()
      await closed.promise
    },
  }
}

async function answerTo(answers: Answers, { method = '', url = '', headers }: IncomingMessage): Promise<Answer> {
  const path = url.split('?', 1)[0] ?? ''
  if (!Object.hasOwn(answers, path)) return { status: 404, type: 'text/plain', body: 'Not found\n' }
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, type: 'text/plain', body: 'Use GET\n' }
  return (answers[path] as Answers[string])(headers.authorization)
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, { ...HEADERS, 'content-type': type }).end(body)
}
