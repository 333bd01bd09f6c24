/** Static pages, compressed once. They need no key and are not rate-limited (D-HTTP-8). */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { encodingFor } from './encoding.ts'
import type { RequestHeaders } from './public-page.ts'

export type StaticPage = {
  url: string
  type: string
  contentSecurityPolicy: string
  /** Called once, at the first request. */
  write: () => string
}

const CACHE_SECONDS = 300
const BROTLI_QUALITY = 6

/** Whether the pages are served at the host of a request. Elsewhere they do not exist. */
export type IsServed = (headers: RequestHeaders) => Promise<boolean>

/** Adds a route for each page. */
export function addStaticPages(app: FastifyInstance, pages: StaticPage[], isServed: IsServed = async () => true): void {
  for (const page of pages) add(app, page, isServed)
}

type Encoded = Record<'br' | 'gzip' | 'identity', Buffer>

function add(app: FastifyInstance, { url, type, contentSecurityPolicy, write }: StaticPage, isServed: IsServed) {
  let encoded: Promise<Encoded> | undefined
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!(await isServed(request.headers))) return reply.callNotFound()
    encoded ??= encodedIn(write())
    const encoding = encodingFor(request.headers['accept-encoding']) ?? 'identity'
    if (encoding !== 'identity') reply.header('content-encoding', encoding)
    return reply
      .headers(headersOf(request, contentSecurityPolicy))
      .type(type)
      .send((await encoded)[encoding])
  }
  app.route({ method: ['GET', 'HEAD'], url, handler })
}

const headersOf = ({ id }: FastifyRequest, contentSecurityPolicy: string) => ({
  'x-request-id': id,
  'cache-control': `public, max-age=${CACHE_SECONDS}`,
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'Accept-Encoding',
})

const inGzip = promisify<Buffer, Buffer>(gzip)
const inBrotli = promisify(brotliCompress)

/** Compresses outside of the event loop: the largest page has 3 MB. */
async function encodedIn(text: string): Promise<Encoded> {
  const identity = Buffer.from(text)
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
  const [zipped, br] = await Promise.all([inGzip(identity), inBrotli(identity, { params })])
  return { identity, gzip: zipped, br }
}
