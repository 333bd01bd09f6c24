/** Reads the contents of emails right before they are delivered, so many bytes at a time as memory is meant for them. */
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { gathered } from '../../../infra/runtime/gathered.ts'
import type { MessageId, ProjectId } from '../../../lib/ids.ts'
import { contentsOf, inflateContent } from '../../mta/index.ts'

const BYTES_MAX = 128 * 1024 * 1024
const INFLATED_AT_ONCE = 20

export type Contents = {
  /** Does the work with the content of an email, which is null if it was deleted meanwhile. */
  use<T>(ctx: Ctx, mail: { project_id: ProjectId; id: MessageId; size: number }, work: (content: Buffer | null) => Promise<T>): Promise<T>
}

export function createContents(): Contents {
  let free = BYTES_MAX
  const waiting: { size: number; start(): void }[] = []
  const findContent = gathered<string, Buffer | null>(async (ctx, keys) => {
    const mails = keys.map((key) => key.split(':').map(Number) as [ProjectId, MessageId])
    const rows = await contentsOf(
      ctx,
      mails.map(([project_id, id]) => ({ project_id, id })),
    )
    const contents = new Map<string, Buffer | null>()
    for (const [at, { project_id, id, content, is_deflated, size }] of rows.entries()) {
      // Requests come between.
      if (at > 0 && at % INFLATED_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
      contents.set(`${project_id}:${id}`, content && is_deflated ? await inflateContent(content, size) : content)
    }
    return contents
  })
  /** In order. An email that is larger than all of the memory gets it alone. */
  const startNext = () => {
    for (let next = waiting[0]; next && (free >= next.size || free === BYTES_MAX); next = waiting[0]) {
      waiting.shift()
      free -= next.size
      next.start()
    }
  }
  return {
    async use(ctx, { project_id, id, size }, work) {
      await new Promise<void>((resolve) => {
        waiting.push({ size, start: resolve })
        startNext()
      })
      try {
        return await work((await findContent(ctx, `${project_id}:${id}`)) ?? null)
      } finally {
        free += size
        startNext()
      }
    },
  }
}
