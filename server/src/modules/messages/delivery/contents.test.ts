import { expect, test } from 'vitest'
import { queueMail } from '../../../../test/queued-mail.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { type Contents, createContents } from './contents.ts'

const MIB = 1024 * 1024

const textOf = (w: World, contents: Contents, id: MessageId, size = 5) =>
  contents.use(w.ctx, { project_id: w.projectId, id, size }, async (content) => content?.toString() ?? null)

test('contents are read as they were written, also those of many at once, and null if there is none', async () => {
  await using w = await world()
  const ids = await queueMail(w, ...Array.from({ length: 45 }, () => ({})))
  const [deleted] = ids as [MessageId]
  await select(w, 'update mail_messages set content = null where id = $1', [deleted])
  const contents = createContents()
  const texts = await Promise.all(ids.map((id) => textOf(w, contents, id)))
  expect(texts).toEqual([null, ...Array(44).fill('Hello')])
})

test('what does not fit into the memory waits in order, until there is room; more than all of it is read alone', async () => {
  await using w = await world()
  const [id] = (await queueMail(w, {})) as [MessageId]
  const contents = createContents()
  const log: string[] = []
  const hold = (name: string, mib: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const used = contents.use(w.ctx, { project_id: w.projectId, id, size: mib * MIB }, async () => {
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
  const [first, second, huge, last] = [hold('100', 100), hold('28', 28), hold('200', 200), hold('1', 1)] as const
  await begin('100', '28')
  await first()
  await begin()
  await second()
  await begin('200')
  await huge()
  await begin('1')
  await last()
})
