// A new release takes the place of the one before while clients send events and a blast runs: it migrates the database beside the old one, both
// serve, and the old one is stopped. The release before is the commit BEFORE, or the one before the newest migration.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compare, openCluster, until, urlOf } from './programs.mjs'
import { callerOf, KEY, openRelay, startBlast, startClients } from './stories.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DATABASE = 25437
const USERS = 4000
/** Of each part: before the new release starts, beside the old one, and after it. */
const EVENTS = 500

const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()

const releaseBefore = () => {
  const newest = git('log', '-1', '--diff-filter=A', '--format=%H', '--', 'server/migrations')
  return git('rev-parse', '--short', process.env.BEFORE ?? `${newest}^`)
}

/** The files of that commit, with the dependencies of this one. Returns its `main.ts`. */
async function checkOut(commit, dir) {
  const folder = join(dir, 'before')
  const archive = execFileSync('git', ['archive', '--prefix=before/', commit], { cwd: ROOT, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', dir], { input: archive })
  for (const modules of ['node_modules', 'server/node_modules']) await symlink(join(ROOT, modules), join(folder, modules))
  return join(folder, 'server/src/main.ts')
}

export async function upgrade() {
  await using cluster = await openCluster()
  await using relay = await openRelay()
  const commit = releaseBefore()
  const main = await checkOut(commit, cluster.dir)
  await cluster.postgres(DATABASE)
  const env = { DATABASE_URL: urlOf(`127.0.0.1:${DATABASE}`), BOOTSTRAP_SECRET_KEY: KEY }
  const sql = (statement) => cluster.sql(DATABASE, statement, 'carillon')
  const migrations = async () => Number((await sql('select count(*) from schema_migrations'))[0])

  const old = await cluster.carillon(env, main)
  const applied = await migrations()
  let serving = [callerOf(old.url)]
  let calls = 0
  const call = (...args) => serving[calls++ % serving.length](...args)
  const campaign = await startBlast(call, USERS, relay)
  const clients = startClients(call)
  const more = (what) => {
    const before = clients.acknowledged.length
    return until(what, () => clients.acknowledged.length >= before + EVENTS)
  }
  await more('events of the old release')
  compare('the blast runs when the new release starts', true, relay.taken.size < USERS)

  const current = callerOf((await cluster.carillon(env)).url)
  const added = (await migrations()) - applied
  compare(`the new release migrates the database of ${commit}`, true, added > 0)
  serving = [...serving, current]
  await more('events of both releases')
  serving = [current]
  old.child.kill('SIGTERM')
  const [code] = await once(old.child, 'exit')
  compare('the old release ended by itself, with', 0, code)
  await more('events of the new release')
  await clients.stop()

  await until('the queue', async () => (await sql('select 1 from queue_entries limit 1')).length === 0)
  await until('the blast', async () => (await call('GET', `/campaigns/${campaign}`)).state === 'finished')
  const kept = await sql(`select data->>'id' from events where name = 'counted'`)
  const stored = new Set(kept)
  process.stdout.write(`     ${clients.acknowledged.length} events were acknowledged, over ${added} migrations\n`)
  compare('requests that failed or were refused', 0, clients.refused())
  compare('acknowledged events that are lost', 0, clients.acknowledged.filter((id) => !stored.has(id)).length)
  compare('events that are stored twice', 0, kept.length - stored.size)
  compare('users that the blast reached', USERS, relay.taken.size)
  compare('users that it reached twice', 0, relay.twice())
}
