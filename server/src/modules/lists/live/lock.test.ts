import { expect, test } from 'vitest'
import { world } from '../../../../test/world.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import { lockLists, lockListsShared } from './queries.ts'

test('no transaction that shares the lock on lists waits for one that would have it alone', async () => {
  await using w = await world()
  const [shared, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = inTx(w.ctx, async (ctx) => {
    await lockListsShared(ctx)
    shared.resolve()
    await release.promise
  })
  await shared.promise
  let isAlone = false
  const alone = inTx(w.ctx, async (ctx) => {
    await lockLists(ctx)
    isAlone = true
  })
  for (let batch = 0; batch < 5; batch++) await inTx(w.ctx, lockListsShared)
  expect(isAlone).toBe(false)
  release.resolve()
  await Promise.all([holding, alone])
  expect(isAlone).toBe(true)
})
