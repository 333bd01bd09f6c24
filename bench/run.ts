/** `npm run bench [name …]`: runs benchmarks and saves the results. */
import { execFileSync } from 'node:child_process'
import { audience } from './audience.ts'
import { blast } from './blast.ts'
import { blastGrowth } from './blast-growth.ts'
import { calm } from './calm.ts'
import { coldStart } from './cold-start.ts'
import { compose } from './compose.ts'
import { consoleInBrowser } from './console.ts'
import { dkim } from './dkim.ts'
import { eventNames } from './event-names.ts'
import { growth } from './growth.ts'
import { idempotency } from './idempotency.ts'
import { idle } from './idle.ts'
import { imports } from './imports.ts'
import { ingest } from './ingest.ts'
import { journeys } from './journeys.ts'
import { liquid } from './liquid.ts'
import { listings } from './listings.ts'
import { lists } from './lists.ts'
import { mail } from './mail.ts'
import { manyLists } from './many-lists.ts'
import { scale } from './scale.ts'
import { saveResults } from './support.ts'
import { tenants } from './tenants.ts'
import { tenantsCost } from './tenants-cost.ts'
import { trigger } from './trigger.ts'
import { userGrowth } from './user-growth.ts'
import { users } from './users.ts'
import { webhooks } from './webhooks.ts'

const benches = {
  ingest,
  imports,
  users,
  idempotency,
  listings,
  lists,
  'many-lists': manyLists,
  audience,
  blast,
  'blast-growth': blastGrowth,
  mail,
  compose,
  dkim,
  liquid,
  trigger,
  journeys,
  tenants,
  'tenants-cost': tenantsCost,
  webhooks,
  scale,
  growth,
  'user-growth': userGrowth,
  'event-names': eventNames,
  calm,
  console: consoleInBrowser,
  'cold-start': coldStart,
  idle,
}

const asked = process.argv.slice(2)
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim()
const date = new Date().toISOString().slice(0, 10)
for (const name of asked.length > 0 ? asked : Object.keys(benches)) {
  const bench = benches[name as keyof typeof benches]
  if (!bench) throw new Error(`There is no benchmark ${name}. Use ${Object.keys(benches).join(', ')}.`)
  process.stdout.write(`\n${name}\n`)
  await bench()
  if (!process.env.BENCH_DRY) await saveResults(name, commit, date)
}
