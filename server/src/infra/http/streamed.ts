/** Bodies that are too large for memory. The module stores them while they are read, and handles the request afterwards. */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { fault } from '../../lib/errors.ts'
import type { Ctx } from '../runtime/ctx.ts'
import { bytesOf, checkMediaType } from './body.ts'
import type { CompiledRoute } from './compile.ts'
import type { BodyStream, Received } from './route.ts'

/** A body whose first chunk was received. */
export type OpenBody = {
  stream: BodyStream
  /** The charset that its media type names. */
  charset: string | undefined
  /** The SHA-256 of the body, in hexadecimal. Throws if the body was not read to its end. */
  digest(): string
}

/** Reads the first chunk of a body. Throws 415, 413, or 400 if there is no body. */
export async function openBody(ctx: Ctx, { def }: CompiledRoute, { raw }: FastifyRequest): Promise<OpenBody> {
  const { type, charsets, bytesMax } = def.stream as NonNullable<typeof def.stream>
  const charset = checkMediaType(raw.headers['content-type'], type, def.method, charsets)
  const hash = createHash('sha256')
  const source = bytesOf(raw, bytesMax(ctx.config))
  const begin = await source.next()
  if (begin.done) throw fault('parameter_missing', 'body', `This operation needs a body of \`${type}\`.`)
  let isRead = false
  return {
    stream: stream(begin.value),
    charset,
    digest() {
      if (!isRead) throw new Error('The digest was requested before the body was read to its end.')
      return hash.copy().digest('hex')
    },
  }

  async function* stream(first: Buffer) {
    hash.update(first)
    yield first
    for await (const chunk of source) {
      hash.update(chunk)
      yield chunk
    }
    isRead = true
  }
}

/** Lets the module store the body. The caller disposes of the result. */
export const receive = (ctx: Ctx, { def }: CompiledRoute, input: object): Promise<Received> =>
  ((def.stream as NonNullable<typeof def.stream>).receive as unknown as (ctx: Ctx, input: object) => Promise<Received>)(ctx, input)
