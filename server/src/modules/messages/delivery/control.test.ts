/** What ends a pause of a long mail queue, and what makes its email due: some recipients at a time. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { explaining, type Reading, rolledBack } from '../../../../test/explain.ts'
import { type World, world } from '../../../../test/world.ts'
import { type Database, sql } from '../../../infra/postgres/db.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { makeDue } from '../../mta/index.ts'
import { pauseMail, resumeMail, retryMail } from './control.ts'

const MAILS = 12_000
const AT_ONCE_MAX = 5000

/** The numbers of rows that the statements of a world change or return from now on. */
function watchRows(w: World): number[] {
  const counts: number[] = []
  const watched = (db: Record<string, unknown>): Record<string, unknown> => {
    const note =
      (name: string, countOf: (found: unknown) => unknown) =>
      async (...args: unknown[]) => {
        const found = await (db[name] as (...args: unknown[]) => Promise<unknown>)(...args)
        const count = countOf(found)
        if (typeof count === 'number') counts.push(count)
        return found
      }
    const transaction = (work: (tx: unknown) => unknown, limits?: unknown) =>
      (db.transaction as (work: (tx: Record<string, unknown>) => unknown, limits?: unknown) => unknown)((tx) => work(watched(tx)), limits)
    return {
      ...db,
      run: note('run', (found) => found),
      first: note('first', (found) => (found as { changed?: number })?.changed),
      transaction,
    }
  }
  w.ctx.db = watched(w.ctx.db as never) as unknown as Database
  return counts
}

const fill = (w: World, isHeld: boolean) =>
  w.db.run(
    sql`insert into mail_recipients (project_id, mail_id, no, priority, size, address, domain, is_held, due_at, created_at)
        select ${w.projectId}, i, 0, 1, 5, 'kim@example.com', 'example.com', ${isHeld}, ${new Date(w.clock.now().getTime() + 1000)}, ${w.clock.now()}
        from generate_series(1, ${MAILS}::int) as i`,
  )

const waiting = (w: World) =>
  w.db.value(
    Type.Integer(),
    sql`select count(*) as count from mail_recipients where project_id = ${w.projectId} and (is_held or due_at > ${w.clock.now()})`,
  )

test('a pause ends in statements that release some recipients each', async () => {
  await using w = await world()
  await fill(w, true)
  const pause = { scope: 'project' as const, value: '' }
  await pauseMail(w.ctx, pause)
  const counts = watchRows(w)
  await resumeMail(w.ctx, pause)
  expect(await waiting(w)).toBe(0)
  expect(Math.max(...counts)).toBe(AT_ONCE_MAX)
})

test('all waiting email is made due, and counted', async () => {
  await using w = await world()
  await fill(w, false)
  expect(await retryMail(w.ctx, {})).toBe(MAILS)
  expect(await waiting(w)).toBe(0)
})

test('what is made due next is read behind what was made due before', async () => {
  await using w = await world()
  await fill(w, false)
  await w.db.run(sql`analyze mail_recipients`)
  const readings: Reading[] = []
  const behind = { mail_id: (MAILS - 10) as MessageId, no: 0 }
  await rolledBack(w.ctx, (ctx) => makeDue(explaining(ctx, readings), {}, { limit: 10, behind }))
  expect(readings.map(({ rows }) => rows)).toEqual([expect.toSatisfy((rows) => rows < 100)])
})
