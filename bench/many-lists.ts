/** Building many small lists of one project, compared with the bare statements for the same members, one after the other. */
import pg from 'pg'
import { caller, pause } from './sending.ts'
import { report, seedUsers, startServer } from './support.ts'

const LISTS = 300
const USERS = 2000
const CREATED_AT_ONCE = 10

const ruleOf = (index: number) => ({ attribute: 'data.visits', at_least: index % 100 })

export async function manyLists(): Promise<void> {
  await using server = await startServer()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  await seedUsers(db, USERS)
  await db.query('create table bare_memberships (like list_memberships including all)')
  const call = caller(server)
  const bareMs = await milliseconds(async () => {
    for (let index = 0; index < LISTS; index++) {
      await db.query(
        `insert into bare_memberships (project_id, version_id, user_id, is_member, changed_at)
         select 1, $1, id, true, now() from users where project_id = 1 and merged_into is null and (data->>'visits')::numeric >= $2`,
        [index, index % 100],
      )
    }
  })
  let createdMs = 0
  const readyMs = await milliseconds(async () => {
    const create = (index: number) => call('POST', '/api/client/lists', { name: `List ${index}`, type: 'dynamic', rule: ruleOf(index) })
    createdMs = await milliseconds(async () => {
      for (let first = 0; first < LISTS; first += CREATED_AT_ONCE)
        await Promise.all(Array.from({ length: CREATED_AT_ONCE }, (_, at) => create(first + at)))
    })
    while ((await unfinished(db)) > 0) await pause(20)
  })
  report(
    `${LISTS} lists of ${USERS} users`,
    readyMs / bareMs,
    `ready after ${(readyMs / 1000).toFixed(1)} s, of which ${(createdMs / 1000).toFixed(1)} s to create them; bare statements ${(bareMs / 1000).toFixed(1)} s`,
  )
  await db.end()
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function unfinished(db: pg.Client): Promise<number> {
  const { rows } = await db.query(`select count(*)::int as lists from list_versions where status in ('filling', 'building')`)
  return rows[0].lists
}
