/** Server processes that share one database. */
import pg from 'pg'
import { inject } from 'vitest'
import { type ChildServer, someSecretKey, startChild, temporaryDir } from '../child-server.ts'
import { withDatabase } from '../database.ts'

export type Roles = ('all' | 'api' | 'worker')[]
export type Group = AsyncDisposable & {
  servers: ChildServer[]
  urls: string[]
  databaseUrl: string
  key: string
  start(role: Roles[number]): Promise<ChildServer>
}

let databases = 0

/** Processes with the given roles on an empty database of their own. */
export async function startGroup(roles: Roles): Promise<Group> {
  await using opening = new AsyncDisposableStack()
  const name = `several_${process.pid}_${++databases}`
  const admin = new pg.Client({ connectionString: inject('databaseUrl') })
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  const databaseUrl = withDatabase(inject('databaseUrl'), name)
  const key = someSecretKey()
  const dir = opening.use(await temporaryDir())
  const env = { DATABASE_URL: databaseUrl, BOOTSTRAP_SECRET_KEY: key }
  // All at once: whoever comes first migrates, the others wait for it.
  const start = (role: Roles[number]) => startChild({ role, dataDir: dir.path, env })
  const servers = await Promise.all(roles.map(start))
  for (const server of servers) opening.use(server)
  const closing = opening.move()
  return {
    servers,
    urls: servers.map(({ url }) => url).filter(Boolean),
    databaseUrl,
    key,
    start,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}
