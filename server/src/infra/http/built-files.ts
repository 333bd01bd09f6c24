/** Files that were built and compressed before the server started. They need no key and are not rate-limited (D-HTTP-8). */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { encodingFor } from './encoding.ts'
import type { IsServed } from './static-pages.ts'

export type BuiltFile = {
  url: string
  type: string
  /** The bytes with an encoding, or null if there are none with it. Without an encoding there always are. */
  read: (encoding: 'br' | 'gzip' | 'identity') => Buffer | null
}

/** A page whose text has places for the nonce of each reply. */
export type NoncePage = {
  urls: string[]
  /** The text for a nonce. */
  write: (nonce: string) => string
  contentSecurityPolicy: (nonce: string) => string
}

const YEAR_SECONDS = 31_536_000
const NONCE_BYTES = 18

const common = ({ id }: FastifyRequest) => ({ 'x-request-id': id, 'x-content-type-options': 'nosniff', 'referrer-policy': 'same-origin' })

/** Adds a route for each file. Their names change with their content, so browsers keep them. */
export function addBuiltFiles(app: FastifyInstance, files: BuiltFile[], isServed: IsServed): void {
  for (const file of files) {
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      if (!(await isServed(request.headers))) return reply.callNotFound()
      const wanted = encodingFor(request.headers['accept-encoding'])
      const encoded = wanted && file.read(wanted)
      if (encoded) reply.header('content-encoding', wanted)
      const caching = { 'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`, vary: 'Accept-Encoding' }
      return reply
        .headers({ ...common(request), ...caching })
        .type(file.type)
        .send(encoded || file.read('identity'))
    }
    app.route({ method: ['GET', 'HEAD'], url: file.url, handler })
  }
}

/** Adds a page at its paths. It is never stored, because its nonce is good for one reply. */
export function addNoncePage(app: FastifyInstance, page: NoncePage, isServed: IsServed): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!(await isServed(request.headers))) return reply.callNotFound()
    const nonce = randomBytes(NONCE_BYTES).toString('base64')
    return reply
      .headers({
        ...common(request),
        'cache-control': 'no-store',
        'content-security-policy': page.contentSecurityPolicy(nonce),
        'cross-origin-opener-policy': 'same-origin',
      })
      .type('text/html; charset=utf-8')
      .send(page.write(nonce))
  }
  for (const url of page.urls) app.route({ method: ['GET', 'HEAD'], url, handler })
}
