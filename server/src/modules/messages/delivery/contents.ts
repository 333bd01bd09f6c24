/** Reads the contents of emails right before they are delivered, so many bytes of each priority at a time as memory is meant for them. */
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { gathered } from '../../../infra/runtime/gathered.ts'
import type { MessageId, ProjectId } from '../../../lib/ids.ts'
import { contentsOf, inflateContent, type MailPriority } from '../../mta/index.ts'

const MIB = 1024 * 1024
/** Blasts keep no other email waiting, whatever the size of theirs. */
const BYTES_MAX: Record<MailPriority, number> = { 0: 48 * MIB, 1: 48 * MIB, 2: 32 * MIB }
const INFLATED_AT_ONCE = 20

export type Contents = {
  /** Does the work with the content of an email, which is null if it was deleted meanwhile. */
  use<T>(ctx: Ctx, mail: SizedMail, work: (content: Buffer | null) => Promise<T>): Promise<T>
}

type SizedMail = { project_id: ProjectId; id: MessageId; size: number; priority: MailPriority }

export function createContents(): Contents {
  const memory = { 0: createMemory(BYTES_MAX[0]), 1: createMemory(BYTES_MAX[1]), 2: createMemory(BYTES_MAX[2]) }
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
  return {
    async use(ctx, { project_id, id, size, priority }, work) {
      const giveBack = await memory[priority].take(size)
      try {
        return await work((await findContent(ctx, `${project_id}:${id}`)) ?? null)
      } finally {
        giveBack()
      }
    },
  }
}

/** `passing`: what those have that came later, and did not wait for it. */
type Waiting = { size: number; passing: number; start(passed: Waiting | null): void }

/**
 * Memory that is given in order. Who is larger than all of it gets it alone. A first one that does not fit yet lets others pass as far as they
 * leave it enough: it begins no later than when all have ended that were there before it.
 */
function createMemory(bytes: number) {
  let free = bytes
  const waiting: Waiting[] = []
  const start = (at: number, passed: Waiting | null) => {
    const [one] = waiting.splice(at, 1) as [Waiting]
    free -= one.size
    if (passed) passed.passing += one.size
    one.start(passed)
  }
  const startNext = () => {
    let first = waiting[0]
    for (; first && (free >= first.size || free === bytes); first = waiting[0]) start(0, null)
    if (!first) return
    for (let at = 1; at < waiting.length; ) {
      const { size } = waiting[at] as Waiting
      if (size <= free && first.passing + size <= bytes - first.size) start(at, first)
      else at++
    }
  }
  return {
    /** Resolves when there is room, with what gives it back. */
    take: (size: number) =>
      new Promise<() => void>((resolve) => {
        const giveBack = (passed: Waiting | null) => () => {
          free += size
          if (passed) passed.passing -= size
          startNext()
        }
        waiting.push({ size, passing: 0, start: (passed) => resolve(giveBack(passed)) })
        startNext()
      }),
  }
}
