/** The web server of all MTA-STS policies (RFC 8461 §3.3). It presents a certificate for whatever name the client asks for. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certificates, TlsVariant } from './certificates.ts'

/** What the server answers for a domain. `text` is the policy. */
export type PolicyReply = {
  text?: string
  status?: number
  contentType?: string
  /** The target of a redirect. */
  location?: string
  tls?: Extract<TlsVariant, 'valid' | 'wrong-name' | 'expired' | 'self-signed'>
  /** No answer at all. */
  hangs?: boolean
}

export type PolicyHost = AsyncDisposable & {
  ip: string
  port: number
  /** The domains whose policies were asked for, in order. */
  requests: string[]
  /** Sets what is answered for a domain, or that its policy does not exist. */
  set(domain: string, reply?: PolicyReply): void
}

const PREFIX = 'mta-sts.'
const PATH = '/.well-known/mta-sts.txt'

/** Starts the server, without policies. */
export async function openPolicyHost(certificates: Certificates): Promise<PolicyHost> {
  const replies = new Map<string, PolicyReply>()
  const requests: string[] = []
  const domainOf = (host: string) => host.slice(PREFIX.length).replace(/:\d+$/, '')
  const server = createServer({
    SNICallback: (servername, done) => {
      const { tls = 'valid' } = replies.get(domainOf(servername)) ?? {}
      certificates.contextOf(servername, tls).then((context) => done(null, context), done)
    },
  })
  server.on('request', (request, response) => {
    const domain = domainOf(request.headers.host ?? '')
    requests.push(domain)
    const reply = replies.get(domain)
    if (reply?.hangs) return
    if (!reply || request.url !== PATH) return response.writeHead(404).end()
    const { text = '', status = 200, contentType = 'text/plain; charset=utf-8', location } = reply
    return response.writeHead(status, { 'content-type': contentType, ...(location && { location }) }).end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ip: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    requests,
    set(domain, reply) {
      if (reply) replies.set(domain, reply)
      else replies.delete(domain)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
