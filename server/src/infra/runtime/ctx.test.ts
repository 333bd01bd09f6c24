import { expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { Conflict } from '../postgres/db.ts'
import { afterCommit, type Ctx, inSavepoint, inTx } from './ctx.ts'

const JOB = { name: 'some.job' }

/** A context that records what is woken. */
async function recording() {
  const w = await world()
  const woken: string[] = []
  const ctx: Ctx = { ...w.ctx, wake: ({ name }) => void woken.push(name) }
  return { ctx, woken, [Symbol.asyncDispose]: () => w[Symbol.asyncDispose]() }
}

test('a job that is woken in a transaction is woken once, after the commit of the outermost one', async () => {
  await using s = await recording()
  await inTx(s.ctx, async (ctx) => {
    await inTx(ctx, async (ctx) => ctx.wake(JOB))
    ctx.wake(JOB)
    expect(s.woken).toEqual([])
  })
  expect(s.woken).toEqual(['some.job'])
})

test('a transaction that is rolled back wakes nothing', async () => {
  await using s = await recording()
  const failing = inTx(s.ctx, async (ctx) => {
    ctx.wake(JOB)
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  expect(s.woken).toEqual([])
})

test('of a transaction that is repeated, only what the attempt that committed asked for happens afterwards', async () => {
  await using s = await recording()
  const ran: number[] = []
  let attempts = 0
  await inTx(s.ctx, async (ctx) => {
    const attempt = ++attempts
    afterCommit(ctx, () => ran.push(attempt))
    ctx.wake({ name: `job.${attempt}` })
    if (attempt < 3) throw new Conflict('again')
  })
  expect([ran, s.woken]).toEqual([[3], ['job.3']])
})

test('what a savepoint asked for does not happen afterwards if it was rolled back', async () => {
  await using s = await recording()
  const ran: string[] = []
  await inTx(s.ctx, async (ctx) => {
    await inSavepoint(ctx, async (ctx) => afterCommit(ctx, () => ran.push('kept')))
    const failing = inSavepoint(ctx, async (ctx) => {
      afterCommit(ctx, () => ran.push('rolled back'))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(ran).toEqual([])
  })
  expect(ran).toEqual(['kept'])
})
