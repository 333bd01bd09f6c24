import { expect, test } from 'vitest'
import { BULK, queueMail } from '../../../../test/queued-mail.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import type { MessageId } from '../../../lib/ids.ts'
import type { MailPriority } from '../../mta/index.ts'
import { type Contents, createContents } from './contents.ts'

const MIB = 1024 * 1024

const textOf = (w: World, contents: Contents, id: MessageId, size = 5) =>
  contents.use(w.ctx, { project_id: w.projectId, id, size, priority: BULK }, async (content) => content?.toString() ?? null)

test('contents are read as they were written, also those of many at once, and null if there is none', async () => {
  await using w = await world()
  const ids = await queueMail(w, ...Array.from({ length: 45 }, () => ({})))
  const [deleted] = ids as [MessageId]
  await select(w, 'update mail_messages set content = null where id = $1', [deleted])
  const contents = createContents()
  const texts = await Promise.all(ids.map((id) => textOf(w, contents, id)))
  expect(texts).toEqual([null, ...Array(44).fill('Hello')])
})

/** What can be held while it is used, and a check of what has begun. */
async function holding(w: World) {
  const [id] = (await queueMail(w, {})) as [MessageId]
  const contents = createContents()
  const log: string[] = []
  const hold = (name: string, mib: number, priority: MailPriority = BULK) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const used = contents.use(w.ctx, { project_id: w.projectId, id, size: mib * MIB, priority }, async () => {
      log.push(name)
      await promise
    })
    return async () => {
      resolve()
      await used
    }
  }
  /** Waits until the named ones have begun, and sees that no other begins by the time at which others, which share nothing with it, were read. */
  const begin = async (...names: string[]) => {
    await expect.poll(() => log.length).toBeGreaterThanOrEqual(names.length)
    for (let times = 0; times < 3; times++) await textOf(w, createContents(), id)
    expect(log.splice(0)).toEqual(names)
  }
  return { hold, begin }
}

test('what does not fit into the memory waits in order, until there is room; more than all of it is read alone', async () => {
  await using w = await world()
  const { hold, begin } = await holding(w)
  const [first, second, huge, last] = [hold('40', 40), hold('8', 8), hold('200', 200), hold('1', 1)] as const
  await begin('40', '8')
  await first()
  await begin()
  await second()
  await begin('200')
  await huge()
  await begin('1')
  await last()
})

test('blasts, however large their emails are, keep no email of another priority waiting', async () => {
  await using w = await world()
  const { hold, begin } = await holding(w)
  const others: [string, MailPriority][] = [
    ['transactional', 0],
    ['timed', 2],
  ]
  const ends = [hold('40', 40), hold('20', 20), ...others.map(([name, priority]) => hold(name, 20, priority))]
  await begin('40', 'transactional', 'timed')
  await Promise.all(ends.map((end) => end()))
})

test('what fits passes a larger one that waits, which begins as soon as what was there before it has ended', async () => {
  await using w = await world()
  const { hold, begin } = await holding(w)
  const [first, large, small] = [hold('30', 30), hold('40', 40), hold('8', 8)] as const
  await begin('30', '8')
  // More of these would leave it too little.
  const another = hold('another 8', 8)
  await begin()
  await small()
  await begin('another 8')
  await first()
  await begin('40')
  await Promise.all([large(), another()])
})
