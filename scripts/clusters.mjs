// Runs the server against PostgreSQL as people run it, on loopback, and says what it found: `node scripts/clusters.mjs`, or with the names of scenarios.
// Needs Node 24, root and Debian's packages: `pgbouncer` for the first, `patroni` and `etcd-server` for `patroni`, `nats-server` for `nats`. `citus` needs
// its extension, without which it is skipped, and `versions`, which runs the tests on PostgreSQL 16 and 17, the registry of npm. PostgreSQL is the one
// that the server comes with, or that in the folder POSTGRES, such as /usr/lib/postgresql/17, which `patroni` needs; another PgBouncer is named by
// PGBOUNCER. For the time before a release; not part of the tests.
import { citus } from './clusters/citus.mjs'
import { failover } from './clusters/failover.mjs'
import { nats } from './clusters/nats.mjs'
import { patroni } from './clusters/patroni.mjs'
import { pgbouncer } from './clusters/pgbouncer.mjs'
import { replica } from './clusters/replica.mjs'
import { upgrade } from './clusters/upgrade.mjs'
import { versions } from './clusters/versions.mjs'

const SCENARIOS = { pgbouncer, failover, patroni, replica, upgrade, nats, citus, versions }

const chosen = process.argv.slice(2)
const unknown = chosen.find((name) => !(name in SCENARIOS))
if (unknown !== undefined) throw new Error(`There is no scenario “${unknown}”. There are ${Object.keys(SCENARIOS).join(', ')}.`)
for (const name of chosen.length > 0 ? chosen : Object.keys(SCENARIOS)) {
  process.stdout.write(`${name}\n`)
  await SCENARIOS[name]()
}
