// The tables of the server as distributed tables of Citus, where its extension is installed for the PostgreSQL of POSTGRES: by project, and those
// without one, or with a key that must be unique among all projects, as reference tables. Where it is not, the rule that every key begins with
// the project (`server/test/house/keys.test.ts`) stands for it.
import { once } from 'node:events'
import pg from 'pg'
import { compare, openCluster, urlOf } from './programs.mjs'
import { callerOf, KEY } from './stories.mjs'

const DATABASE = 25451

/** Tables, without those that are partitions of another one, and whether all their keys have the project. */
const TABLES = `
  select format('%I', c.relname) as name,
         exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'project_id' and a.attnotnull)
         and not exists (select from pg_index i
                         where i.indrelid = c.oid and i.indisunique
                           and not exists (select from pg_attribute a
                                           where a.attrelid = c.oid and a.attname = 'project_id' and a.attnum = any(i.indkey::int2[]))) as by_project
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by 1`

const FOREIGN_KEYS = `
  select format('%I', c.relname) as table, format('%I', f.conname) as name, pg_get_constraintdef(f.oid) as definition
  from pg_constraint f join pg_class c on c.oid = f.conrelid
  where f.contype = 'f' and f.conparentid = 0 and c.relnamespace = 'public'::regnamespace
  order by 1, 2`

export async function citus() {
  await using cluster = await openCluster()
  const { primary } = await cluster.postgres(DATABASE)
  const [isInstalled] = await cluster.sql(DATABASE, `select exists (select from pg_available_extensions where name = 'citus')`)
  if (!isInstalled) {
    process.stdout.write(
      'skip the extension citus is not installed for this PostgreSQL; name one by POSTGRES, such as /usr/lib/postgresql/17\n',
    )
    return
  }
  await cluster.sql(DATABASE, `alter system set shared_preload_libraries = 'citus'`)
  primary.kill('SIGINT')
  await once(primary, 'exit')
  await cluster.postgresAgain(DATABASE)
  const env = { DATABASE_URL: urlOf(`127.0.0.1:${DATABASE}`), BOOTSTRAP_SECRET_KEY: KEY }
  const migrated = await cluster.carillon(env)
  migrated.child.kill('SIGTERM')
  await once(migrated.child, 'exit')
  await distribute(urlOf(`127.0.0.1:${DATABASE}`))
  const { url } = await cluster.carillon(env)
  const call = callerOf(url)
  await call('POST', '/users/batch', [{ external_id: 'kim', data: { plan: 'pro' } }])
  compare('a user is stored and read', 'kim', (await call('GET', '/users/kim')).external_id)
}

/** Foreign keys are removed before, because they may not lead between a table that is distributed and one that is not yet. */
async function distribute(connectionString) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const refused = []
  const attempt = (what, statement) => client.query(statement).catch(({ message }) => refused.push(`${what}: ${message}`))
  try {
    await client.query('create extension citus')
    const { rows: tables } = await client.query(TABLES)
    const { rows: keys } = await client.query(FOREIGN_KEYS)
    for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${name}`)
    const [distributed, references] = [tables.filter(({ by_project }) => by_project), tables.filter(({ by_project }) => !by_project)]
    for (const { name } of references) await attempt(name, `select create_reference_table('${name}')`)
    for (const { name } of distributed) await attempt(name, `select create_distributed_table('${name}', 'project_id')`)
    for (const { table, name, definition } of keys) await attempt(name, `alter table ${table} add constraint ${name} ${definition}`)
    process.stdout.write(`     ${distributed.length} tables by project, ${references.length} on every node, ${keys.length} foreign keys\n`)
  } finally {
    await client.end()
  }
  compare('what Citus refuses', [], refused)
}
