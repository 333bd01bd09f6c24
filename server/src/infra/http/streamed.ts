/** Bodies that are too large to be held: read as they come, kept by their module, and only then decided about. */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { fault } from '../../lib/errors.ts'
import type { Ctx } from '../runtime/ctx.ts'
import { bytesOf, checkMediaType } from './body.ts'
import type { CompiledRoute } from './compile.ts'
import type { BodyStream, Received } from './route.ts'

/** A sender that says nothing for so long is gone. */
const SILENCE_MAX_MS = 120_000

/** A body that has begun to come. */
export type OpenBody = {
  stream: BodyStream
  /** What came, in 64 characters. Throws while not everything was read. */
  digest(): string
}

/** Looks at how a body begins. Throws 415, 413, or 400 when there is none. */
export async function openBody(ctx: Ctx, { def }: CompiledRoute, { raw }: FastifyRequest): Promise<OpenBody> {
  const { type, bytesMax } = def.stream as NonNullable<typeof def.stream>
  checkMediaType(raw.headers['content-type'], type, def.method)
  raw.setTimeout?.(SILENCE_MAX_MS, () => raw.destroy())
  const hash = createHash('sha256')
  const source = bytesOf(raw, bytesMax(ctx.config))
  const begin = await source.next()
  if (begin.done) throw fault('parameter_missing', 'body', `This operation needs a body of \`${type}\`.`)
  let isRead = false
  return {
    stream: stream(begin.value),
    digest() {
      if (!isRead) throw new Error('A body was decided about before it was read.')
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

/** Has the module keep the body. Whoever holds the answer disposes of what is not needed in the end. */
export const receive = (ctx: Ctx, { def }: CompiledRoute, input: object): Promise<Received> =>
  ((def.stream as NonNullable<typeof def.stream>).receive as unknown as (ctx: Ctx, input: object) => Promise<Received>)(ctx, input)
