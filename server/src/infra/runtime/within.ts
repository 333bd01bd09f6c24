import type { Ctx } from './ctx.ts'

/** What work leads to. Throws if that takes longer; nothing waits for the work then. */
export async function within<T>({ clock }: Pick<Ctx, 'clock'>, ms: number, work: () => Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = async () => {
    await clock.sleep(ms, over.signal)
    throw new Error(`There was no answer within ${ms} ms.`)
  }
  try {
    return await Promise.race([work(), late()])
  } finally {
    // With a reason, because without one an error is made with its stack.
    over.abort('done')
  }
}
