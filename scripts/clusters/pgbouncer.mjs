// PgBouncer in transaction mode with few connections to PostgreSQL, whose time zone is not UTC.
import { execFileSync } from 'node:child_process'
import { compare, openCluster, PGBOUNCER, until, urlOf } from './programs.mjs'
import { callerOf, KEY, openRelay, startBlast, welcomeKim } from './stories.mjs'

const [DATABASE, POOLER] = [25432, 26432]
const USERS = 2000
/** The first version that keeps prepared statements. */
const KEEPS_STATEMENTS = 1.21

export async function pgbouncer() {
  const [, version] = /PgBouncer (\d+\.\d+)/.exec(execFileSync(PGBOUNCER, ['--version'], { encoding: 'utf8' }))
  const keeps = Number(version) >= KEEPS_STATEMENTS
  process.stdout.write(`PgBouncer ${version}, ${keeps ? 'with' : 'without'} prepared statements\n`)
  await using cluster = await openCluster()
  await using relay = await openRelay()
  await cluster.postgres(DATABASE)
  await cluster.pgbouncer(POOLER, DATABASE, keeps ? { max_prepared_statements: 200 } : {})
  const env = { DATABASE_URL: urlOf(`127.0.0.1:${POOLER}`), BOOTSTRAP_SECRET_KEY: KEY, DATABASE_PREPARE: String(keeps) }
  const refused = await cluster.carillon(env).catch(({ message }) => message)
  compare('without DATABASE_DIRECT_URL the server says what is missing', true, /Set DATABASE_DIRECT_URL/.test(refused))
  const { url, log } = await cluster.carillon({ ...env, DATABASE_DIRECT_URL: urlOf(`127.0.0.1:${DATABASE}`) })
  const call = callerOf(url)
  compare('the story of the README', { subject: 'Welcome, Kim', member: true }, await welcomeKim(call))
  const campaign = await startBlast(call, USERS, relay)
  await until('the blast', async () => (await call('GET', `/campaigns/${campaign}`)).state === 'finished')
  compare('users that a blast reached', USERS, relay.taken.size)
  compare('users that it reached twice', 0, relay.twice())
  // A job that runs may have one in its transaction.
  const locks = `select objid from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory' and state = 'idle'`
  compare('locks that stayed with a connection', [], await cluster.sql(DATABASE, locks))
  compare('warnings and errors in the log', [], log().match(/"level":"?(warn|error|40|50)"?.*/g) ?? [])
}
