/** The deletion of a project reaches every table that has rows of projects, in an order that the database allows. */
import { expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import { KEPT_TABLES, PROJECT_TABLES } from '../../src/project-deletion.ts'
import { select } from '../select.ts'
import { world } from '../world.ts'

/** Without partitions, and without the tables of lists that are being built, which are dropped with their version. */
const OF_PROJECTS = `
  select c.relname as name from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id' and not a.attisdropped
  where c.relname !~ '_found_[0-9]+$' and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
  order by 1`

const REFERENCES = `
  select conrelid::regclass::text as child, confrelid::regclass::text as parent
  from pg_constraint where contype = 'f' and conrelid <> confrelid`

test('every table with rows of projects is emptied, or is an exception', async () => {
  await using w = await world()
  const found = (await select(w, OF_PROJECTS)).map(({ name }) => String(name))
  expect([...PROJECT_TABLES, ...Object.keys(KEPT_TABLES)].sort()).toEqual(found)
})

test('rows go before those that they refer to', async () => {
  await using w = await world()
  const places = new Map(PROJECT_TABLES.map((table, place) => [table, place]))
  const wrong = (await select(w, REFERENCES)).filter(({ child, parent }) => {
    const [first, then] = [places.get(String(child)), places.get(String(parent))]
    return first !== undefined && then !== undefined && first > then
  })
  // A list refers to its live version, which it is parted from before.
  expect(wrong).toEqual([{ child: 'lists', parent: 'list_versions' }])
})

// Users, events and requests in the queue have no foreign key to their project: it would be looked up and locked for each row.
test('the row of a project stays, because its keys do, which refer to it', async () => {
  await using w = await world()
  expect(Object.keys(KEPT_TABLES)).toContain('api_keys')
  expect(await select(w, REFERENCES)).toContainEqual({ child: 'api_keys', parent: 'projects' })
  await expect(w.db.run(sql`delete from projects where id = ${w.projectId}`)).rejects.toThrow('violates foreign key constraint')
})
