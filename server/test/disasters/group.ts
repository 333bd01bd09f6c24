/** Server processes that share one database. */
import { type ChildServer, someSecretKey, startChild, temporaryDir } from '../child-server.ts'
import { cloneTemplate, createDatabase } from '../ground.ts'

export type Roles = ('all' | 'api' | 'worker')[]
export type Group = AsyncDisposable & {
  servers: ChildServer[]
  urls: string[]
  databaseUrl: string
  key: string
  start(role: Roles[number]): Promise<ChildServer>
}

export type GroupOptions = {
  env?: Record<string, string>
  /** Start with a database without tables. */
  isEmpty?: true
}

/** Processes with the given roles on a database of their own. */
export async function startGroup(roles: Roles, { env, isEmpty }: GroupOptions = {}): Promise<Group> {
  await using opening = new AsyncDisposableStack()
  const databaseUrl = await (isEmpty ? createDatabase() : cloneTemplate())
  const key = someSecretKey()
  const dir = opening.use(await temporaryDir())
  // Started at once: the first one migrates the database, and the others wait for it.
  const start = (role: Roles[number]) =>
    startChild({ role, dataDir: dir.path, env: { DATABASE_URL: databaseUrl, BOOTSTRAP_SECRET_KEY: key, ...env } })
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
