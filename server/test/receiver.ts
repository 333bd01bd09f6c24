import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { inject } from 'vitest'
import { issueCertificate, loadOrCreateAuthority } from '../src/infra/outgoing/dev-authority.ts'

export type ReceivedRequest = { method: string; path: string; headers: Record<string, string>; body: string; json: Record<string, unknown> }

export type Receiver = AsyncDisposable & {
  url: string
  requests: ReceivedRequest[]
  /** Sets the reply to all further requests: a status, with headers and a body if given, or no reply (`hang`). */
  answer(status: number | 'hang', headers?: Record<string, string>, body?: string): void
  /** How many connections were opened. */
  connections(): number
  /** Holds back all replies until the returned function is called. */
  hold(): () => void
}

/** Starts a webhook endpoint: HTTPS with a certificate that the server under test trusts. */
export async function openReceiver(): Promise<Receiver> {
  const now = new Date()
  const authority = await loadOrCreateAuthority(inject('authorityDir'), now)
  const { cert, key } = await issueCertificate(authority, ['127.0.0.1', 'localhost'], now)
  const requests: ReceivedRequest[] = []
  let held = Promise.resolve()
  let reply: { status: number | 'hang'; headers: Record<string, string>; body: string } = { status: 200, headers: {}, body: 'seen' }
  const server = createServer({ cert, key }, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    requests.push({
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body,
      json: parsed(body),
    })
    await held
    if (reply.status !== 'hang') response.writeHead(reply.status, reply.headers).end(reply.body)
  })
  let connections = 0
  server.on('secureConnection', () => {
    connections++
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests,
    connections: () => connections,
    answer: (status, headers = {}, body = 'seen') => {
      reply = { status, headers, body }
    },
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function parsed(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body)
  } catch {
    return {}
  }
}
