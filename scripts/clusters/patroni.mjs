// Patroni leads two PostgreSQL servers: it changes the leader as for maintenance, and then the leader is killed, both under load.
import { compare, openCluster, until, urlOf } from './programs.mjs'
import { callerOf, compareKept, KEY, openRelay, startBlast, startClients } from './stories.mjs'

const PORTS = [25461, 25462]
const ETCD = 25463
const USERS = 4000
/** Of each part: before the first change of the leader, after it, and after the second. */
const EVENTS = 500

export async function patroni() {
  await using cluster = await openCluster()
  await using relay = await openRelay()
  const members = await cluster.patroni(PORTS, ETCD)
  const statusOf = ({ api }, path) =>
    fetch(`${api}/${path}`).then(
      ({ ok }) => ok,
      () => false,
    )
  const leader = () =>
    until('a leader', async () => {
      for (const member of members.values()) if (await statusOf(member, 'primary')) return member
    })
  const other = (than) => [...members.values()].find((member) => member !== than)
  const inSync = (than) => until('a synchronous standby', () => statusOf(other(than), 'synchronous'))
  const first = await leader()
  await cluster.sql(first.port, 'create database carillon')
  await inSync(first)
  const { url, child } = await cluster.carillon({
    DATABASE_URL: urlOf(PORTS.map((port) => `127.0.0.1:${port}`).join(',')).concat('?target_session_attrs=read-write'),
    BOOTSTRAP_SECRET_KEY: KEY,
    MESSAGE_LEASE_S: '5',
  })
  const call = callerOf(url)
  const campaign = await startBlast(call, USERS, relay)
  const clients = startClients(call)
  const more = (what) => {
    const before = clients.acknowledged.length
    return until(what, () => clients.acknowledged.length >= before + EVENTS)
  }
  await more('events')
  compare('the blast runs when the leader is changed', true, relay.taken.size < USERS)

  const second = other(first)
  const nameOf = ({ port }) => `member-${port}`
  const body = JSON.stringify({ leader: nameOf(first), candidate: nameOf(second) })
  const change = await fetch(`${first.api}/switchover`, { method: 'POST', body })
  compare('Patroni changes the leader', true, change.ok)
  await more('events after the change')
  await inSync(second)
  await second.kill()
  const last = await leader()
  compare('the first leader leads again', first.port, last.port)
  await more('events after the fail-over')
  await clients.stop()
  await compareKept({ call, clients, campaign, users: USERS, relay, sql: (statement) => cluster.sql(last.port, statement, 'carillon') })
  compare('the server is the one that was started', null, child.exitCode)
}
