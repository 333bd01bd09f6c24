// A standby is promoted and the primary is killed, while clients send events and a blast runs.
import { compare, openCluster, until, urlOf } from './programs.mjs'
import { callerOf, compareKept, KEY, openRelay, startBlast, startClients } from './stories.mjs'

const [FIRST, SECOND] = [25433, 25434]
const USERS = 4000
/** Of each half: before the fail-over, and after it. */
const EVENTS = 1000

export async function failover() {
  await using cluster = await openCluster()
  await using relay = await openRelay()
  const { primary } = await cluster.postgres(FIRST, SECOND)
  // Without this, a commit that was acknowledged may not have reached the standby: nothing that this server does could keep it.
  await cluster.sql(FIRST, `alter system set synchronous_standby_names = '*'`)
  await cluster.sql(FIRST, 'select pg_reload_conf()')
  const { url, child } = await cluster.carillon({
    DATABASE_URL: urlOf(`127.0.0.1:${FIRST},127.0.0.1:${SECOND}`).concat('?target_session_attrs=read-write'),
    BOOTSTRAP_SECRET_KEY: KEY,
    MESSAGE_LEASE_S: '5',
  })
  const call = callerOf(url)
  const campaign = await startBlast(call, USERS, relay)
  const clients = startClients(call)
  await until('events', () => clients.acknowledged.length >= EVENTS && relay.taken.size > USERS / 10)
  compare('the blast runs when the primary is killed', true, relay.taken.size < USERS)
  primary.kill('SIGKILL')
  const before = clients.acknowledged.length
  await cluster.sql(SECOND, 'select pg_promote()')
  await cluster.sql(SECOND, 'alter system reset synchronous_standby_names')
  await cluster.sql(SECOND, 'select pg_reload_conf()')
  await until('events after the fail-over', () => clients.acknowledged.length >= before + EVENTS)
  await clients.stop()
  await compareKept({ call, clients, campaign, users: USERS, relay, sql: (statement) => cluster.sql(SECOND, statement, 'carillon') })
  compare('the server is the one that was started', null, child.exitCode)
}
