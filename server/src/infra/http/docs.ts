/** What developers read: the description of the API, its reference and its errors. No key needed, not rate-limited (D-HTTP-8). */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OpenApiDocument } from '../openapi.ts'
import { errorsPage } from './docs/error-catalogue.ts'
import { CONTENT_SECURITY_POLICY } from './docs/layout.ts'
import { referencePage } from './docs/reference.ts'

export type Docs = {
  document: () => OpenApiDocument
  baseUrl: () => string
}

const CACHE_SECONDS = 300
const BROTLI_QUALITY = 6

/** Adds the routes. Each page is written when it is first asked for, and kept. */
export function addDocs(app: FastifyInstance, { document, baseUrl }: Docs): void {
  add(app, '/openapi.json', 'application/json; charset=utf-8', () => JSON.stringify(document()))
  add(app, '/docs', 'text/html; charset=utf-8', () => referencePage(document(), baseUrl()))
  add(app, '/docs/errors', 'text/html; charset=utf-8', () => errorsPage(document().info.version, baseUrl()))
}

type Encoded = Record<'br' | 'gzip' | 'identity', Buffer>

function add(app: FastifyInstance, url: string, type: string, write: () => string) {
  let encoded: Encoded | undefined
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    encoded ??= encodedIn(write())
    const encoding = encodingFor(String(request.headers['accept-encoding'] ?? ''))
    if (encoding !== 'identity') reply.header('content-encoding', encoding)
    return reply.headers(headersOf(request)).type(type).send(encoded[encoding])
  }
  app.route({ method: ['GET', 'HEAD'], url, handler })
}

const headersOf = ({ id }: FastifyRequest) => ({
  'x-request-id': id,
  'cache-control': `public, max-age=${CACHE_SECONDS}`,
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'Accept-Encoding',
})

function encodedIn(text: string): Encoded {
  const identity = Buffer.from(text)
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
  return { identity, gzip: gzipSync(identity), br: brotliCompressSync(identity, { params }) }
}

function encodingFor(accepted: string): keyof Encoded {
  const takes = (name: string) => new RegExp(`\\b${name}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\b)`).test(accepted)
  return takes('br') ? 'br' : takes('gzip') ? 'gzip' : 'identity'
}
