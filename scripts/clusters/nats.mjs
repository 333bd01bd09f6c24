// Three nodes of NATS JetStream hold the accepted events. One is killed under load, then the database is ended and started again: nothing is lost.
import { setTimeout as sleep } from 'node:timers/promises'
import { compare, openCluster, until, urlOf } from './programs.mjs'
import { callerOf, KEY, startClients } from './stories.mjs'

const DATABASE = 25441
const NODES = [24221, 24222, 24223]
/** Of each part: before a node is killed, after it, and while the database is away. */
const EVENTS = 1000

export async function nats() {
  await using cluster = await openCluster()
  const { primary } = await cluster.postgres(DATABASE)
  const nodes = await cluster.nats(NODES)
  const { url, child } = await cluster.carillon({
    DATABASE_URL: urlOf(`127.0.0.1:${DATABASE}`),
    BOOTSTRAP_SECRET_KEY: KEY,
    LOG_URL: `nats://${NODES.map((port) => `127.0.0.1:${port}`).join(',')}`,
    LOG_REPLICAS: '3',
  })
  const clients = startClients(callerOf(url))
  await until('events', () => clients.acknowledged.length >= EVENTS)
  nodes[0].kill('SIGKILL')
  const killedAt = clients.acknowledged.length
  await until('events with two nodes', () => clients.acknowledged.length >= killedAt + EVENTS)
  primary.kill('SIGKILL')
  const awayAt = clients.acknowledged.length
  await until('events without the database', () => clients.acknowledged.length >= awayAt + EVENTS)
  const refused = clients.refused()
  await cluster.postgresAgain(DATABASE)
  await clients.stop()
  const stored = () => cluster.sql(DATABASE, `select data->>'id' from events where name = 'counted'`, 'carillon')
  await until('the log and the queue', async () => new Set(await stored()).size >= clients.acknowledged.length)
  await sleep(1000)
  const kept = await stored()
  const ids = new Set(kept)
  process.stdout.write(
    `     ${clients.acknowledged.length} events were acknowledged: ${killedAt} by three nodes, ${awayAt - killedAt} by two, the others while the database was away or after it\n`,
  )
  process.stdout.write(`     ${refused} requests were refused until then, while the nodes chose a leader\n`)
  compare('acknowledged events that are lost', 0, clients.acknowledged.filter((id) => !ids.has(id)).length)
  compare('events that are stored twice', 0, kept.length - ids.size)
  compare('the server is the one that was started', null, child.exitCode)
}
