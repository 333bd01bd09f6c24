import { describe, expect, test } from 'vitest'
import type { Ctx } from './ctx.ts'
import { gathered } from './gathered.ts'

const ctx = { db: {} } as Ctx

/** A lookup whose statements end when told. `asked` are the keys of each. */
function lookup() {
  const asked: number[][] = []
  const running: PromiseWithResolvers<void>[] = []
  const find = gathered<number, string>(async (_, keys) => {
    asked.push(keys)
    running.push(Promise.withResolvers())
    await running.at(-1)?.promise
    return new Map(keys.filter((key) => key < 100).map((key) => [key, `value ${key}`]))
  })
  return { asked, running, find }
}

describe('keys that are asked for while a statement runs', () => {
  test('share the next one, and each gets its own value', async () => {
    const { asked, running, find } = lookup()
    const first = find(ctx, 1)
    const others = [find(ctx, 2), find(ctx, 100), find(ctx, 3), find(ctx, 2)]
    running[0]?.resolve()
    expect(await first).toBe('value 1')
    expect(asked).toEqual([[1], [2, 100, 3]])
    running[1]?.resolve()
    expect(await Promise.all(others)).toEqual(['value 2', undefined, 'value 3', 'value 2'])
  })

  test('are rejected with it when it fails, and later ones are looked up', async () => {
    const { asked, running, find } = lookup()
    const first = find(ctx, 1)
    const others = Promise.allSettled([find(ctx, 2), find(ctx, 3)])
    running[0]?.resolve()
    await first
    running[1]?.reject(new Error('no'))
    expect((await others).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const last = find(ctx, 4)
    running[2]?.resolve()
    expect(await last).toBe('value 4')
    expect(asked).toEqual([[1], [2, 3], [4]])
  })

  test('of another database do not wait for it', async () => {
    const { asked, running, find } = lookup()
    const both = [find(ctx, 1), find({ db: {} } as Ctx, 1)]
    expect(asked).toEqual([[1], [1]])
    for (const { resolve } of running) resolve()
    await Promise.all(both)
  })
})
