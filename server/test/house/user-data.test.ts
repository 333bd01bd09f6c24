/** What is stored about users is in the export of a user and is removed when the user is erased, whichever table it is in. */
import { expect, test } from 'vitest'
import { EXPORTED } from '../../src/modules/users/index.ts'
import { USER_STORES } from '../../src/user-data.ts'
import { select } from '../select.ts'
import { world } from '../world.ts'

/** Tables with users that an export leaves out, and the reason. */
const NOT_EXPORTED: Record<string, string> = {
  erasures: 'the receipt of an erasure has the number of a user and nothing else, and stays',
  user_search: 'the searched text of the profile, which is exported',
  tracked_times: 'times of events, which are exported',
  message_addresses: 'the hash of an address that is exported with its message',
  inbox_counters: 'a count of in-app messages, which are exported',
  journey_keys: 'the hash of an entry key that is exported with its entrance',
  journey_timers: 'the time at which an entrance is due, which is exported with it',
  queue_entries: 'a change that is applied within a second, and is then in the other tables',
}

/** Tables that keep rows of erased users, and the reason. */
const KEPT: Record<string, string> = {
  erasures: 'the receipt',
  messages: 'the rows stay for the counts of campaigns, without what is personal',
}

/** The tables that have a column for users, without partitions and without those of a list that is being built, which are dropped after it. */
const TABLES = `
  select distinct c.relname as name from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attname ~ '(^|_)user_id$' and not a.attisdropped
  where c.relname !~ '_found_[0-9]+$' and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
  order by 1`

test('every table with users is exported, or is an exception', async () => {
  await using w = await world()
  const found = (await select(w, TABLES)).map(({ name }) => String(name))
  const exported = USER_STORES.map(({ table }) => table)
  expect(found.filter((name) => !exported.includes(name) && !Object.hasOwn(NOT_EXPORTED, name))).toEqual([])
  expect(Object.keys(NOT_EXPORTED).filter((name) => !found.includes(name) || exported.includes(name))).toEqual([])
})

test('a table with users that is in neither is found', async () => {
  await using w = await world({ own: true })
  await select(w, 'create table bells (project_id bigint, ringing_user_id bigint)')
  expect((await select(w, TABLES)).map(({ name }) => name)).toContain('bells')
  await select(w, 'drop table bells')
})

test('the members of an export are those that are documented', () => {
  expect([...USER_STORES.map(({ name }) => name), 'suppressions']).toEqual(Object.keys(EXPORTED))
})

test('an erased user is in no table but the exceptions', async () => {
  await using w = await world()
  await w.users('kim')
  const id = (await w.get('/api/client/users/kim')).body.id
  const tables = (await select(w, TABLES)).map(({ name }) => String(name))
  await w.post('/api/client/events', [{ external_id: 'kim', name: 'order' }])
  await w.post('/api/client/devices', { external_id: 'kim', device_id: 'd', token: 't' })
  await w.drain()
  await w.delete('/api/client/users/kim')
  await w.drain()
  const left = []
  for (const table of tables.filter((name) => !Object.hasOwn(KEPT, name))) {
    const columns = await select(
      w,
      `select a.attname as name from pg_attribute a where a.attrelid = '${table}'::regclass and a.attname ~ '(^|_)user_id$' and not a.attisdropped`,
    )
    for (const { name } of columns) {
      const rows = await select(w, `select 1 from ${table} where project_id = $1 and ${name} = $2`, [w.projectId, id])
      if (rows.length > 0) left.push(`${table}.${name}`)
    }
  }
  expect(left).toEqual([])
})
