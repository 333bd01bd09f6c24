import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/infra/postgres/db.ts'
import type { Ctx } from '../../src/infra/runtime/ctx.ts'
import { createEventMonths } from '../../src/modules/events/index.ts'
import { cloneTemplate } from '../ground.ts'
import { createTestClock } from '../test-clock.ts'

/** Tables without a project, and the reason. */
const NO_PROJECT: Record<string, string> = {
  organisations: 'an organisation owns projects',
  projects: 'a project is the tenant itself',
  idempotency_records: 'they belong to an API key, which may be one of an organisation',
  members: 'they are of an organisation',
  member_sessions: 'they are of an organisation',
  member_links: 'they are of an organisation',
  member_recovery_codes: 'they are of an organisation',
  member_passkeys: 'they are of an organisation',
  member_challenges: 'a sign-in has no member before',
  member_identities: 'they are of an organisation',
  sign_in_redirects: 'a sign-in has no member before',
  member_mails: 'they are of the server: an address may be that of no member',
  sign_in_failures: 'they are of no member: an address may be that of none',
  credentials_version: 'a count of the changes to keys of all projects',
  event_removals: 'events are removed by age, for all projects at once',
  schema_migrations: 'all projects share the schema',
  mail_processes: 'a process delivers email of all projects',
  log_positions: 'a log holds the requests of all projects, in one order',
  mta_sts_policies: 'they are facts about domains of recipients, the same for every project',
}

/** Keys that do not begin with the project in tables that have one, and the reason. */
const MAY: Record<string, string> = {
  api_keys_pkey: 'keys of organisations have no project',
  api_keys_hash_key: 'the hash of the key finds the project',
  api_keys_organization_id_fkey: 'keys of organisations have no project',
  audit_entries_pkey: 'entries of organisations have no project',
  api_keys_member_id_fkey: 'members are of an organisation',
  api_keys_of_member: 'the key of a member in the organisation has no project',
  member_roles_member_id_fkey: 'members are of an organisation',
  domains_verified: 'a verified host is unique among all projects, and finds its project',
}

type Key = { table: string; name: string; kind: 'primary' | 'unique' | 'foreign'; columns: string[]; referenced: string[] }

const KEYS = `
  select c.relname as table, k.relname as name, case when i.indisprimary then 'primary' else 'unique' end as kind,
         array(select coalesce(a.attname::text, 'expression')
               from unnest(i.indkey::int[]) with ordinality as n(attnum, place)
               left join pg_attribute a on a.attrelid = c.oid and a.attnum = n.attnum and a.attnum > 0
               where n.place <= i.indnkeyatts
               order by n.place) as columns,
         '{}'::text[] as referenced
  from pg_index i
  join pg_class c on c.oid = i.indrelid
  join pg_class k on k.oid = i.indexrelid
  where i.indisunique and c.relnamespace = 'public'::regnamespace
  union all
  select c.relname, f.conname, 'foreign',
         array(select a.attname::text from unnest(f.conkey) with ordinality as n(attnum, place)
               join pg_attribute a on a.attrelid = f.conrelid and a.attnum = n.attnum order by n.place),
         array(select a.attname::text from unnest(f.confkey) with ordinality as n(attnum, place)
               join pg_attribute a on a.attrelid = f.confrelid and a.attnum = n.attnum order by n.place)
  from pg_constraint f
  join pg_class c on c.oid = f.conrelid
  where f.contype = 'f' and c.relnamespace = 'public'::regnamespace
  order by 1, 2`

const TABLES = `
  select c.relname as name,
         exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'project_id' and not c.relispartition and c.relkind = 'r'
                   and not coalesce(a.attoptions && '{n_distinct=10}', false)) as is_selective,
         exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'project_id' and not a.attisdropped) as has_project
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  order by 1`

async function readCatalogue(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables = (await client.query<{ name: string; has_project: boolean; is_selective: boolean }>(TABLES)).rows
    const keys = (await client.query<Key>(KEYS)).rows
    const inProjects = new Set(tables.filter(({ has_project }) => has_project).map(({ name }) => name))
    return {
      withoutPrimaryKey: tables.map(({ name }) => name).filter((name) => !keys.some((key) => key.table === name && key.kind === 'primary')),
      selective: tables.filter(({ is_selective }) => is_selective).map(({ name }) => name),
      withoutProject: tables.filter(({ has_project }) => !has_project).map(({ name }) => name),
      notLeading: keys.filter((key) => inProjects.has(key.table) && !leadsWithProject(key)).map(({ name }) => name),
    }
  } finally {
    await client.end()
  }
}

/** Whether the key begins with the project. A foreign key must do so on both sides. */
const leadsWithProject = ({ columns, referenced }: Key): boolean =>
  columns[0] === 'project_id' && (referenced.length <= 1 || referenced[0] === 'project_id')

let found: Awaited<ReturnType<typeof readCatalogue>>

beforeAll(async () => {
  // Monthly partitions of `events` are tables too, and other tests leave tables in a shared database.
  const url = await cloneTemplate()
  await using db = openDatabase({ url, connectionsMax: 1, name: 'keys' })
  await createEventMonths({ db, clock: createTestClock() } as unknown as Ctx)
  found = await readCatalogue(url)
})

describe('keys', () => {
  test('every table has a primary key', () => {
    expect(found.withoutPrimaryKey).toEqual([])
  })

  test('every table has a project or is an exception', () => {
    expect(found.withoutProject.sort()).toEqual(Object.keys(NO_PROJECT).sort())
  })

  // See docs/decisions/0006: `alter table … alter column project_id set (n_distinct = 10)` in the migration of a new table.
  test('no table lets PostgreSQL believe that a project leads to a row', () => {
    expect(found.selective).toEqual([])
  })

  test('every primary, unique and foreign key begins with the project or is an exception', () => {
    expect(found.notLeading.sort()).toEqual(Object.keys(MAY).sort())
  })
})

describe('a table that breaks a rule', () => {
  let client: pg.Client
  let url: string

  beforeAll(async () => {
    url = await cloneTemplate()
    client = new pg.Client({ connectionString: url })
    await client.connect()
  })

  afterAll(() => client.end())

  test.each([
    ['create table bells (project_id bigint, name text)', { withoutPrimaryKey: ['bells'] }],
    ['create table bells (id bigint primary key)', { withoutProject: ['bells'] }],
    ['create table bells (id bigint primary key, project_id bigint)', { notLeading: ['bells_pkey'] }],
    ['create table bells (project_id bigint, id bigint, primary key (id, project_id))', { notLeading: ['bells_pkey'] }],
    ['create table bells (project_id bigint primary key, name text unique)', { notLeading: ['bells_name_key'] }],
    [
      'create table bells (project_id bigint primary key, name text); create unique index named on bells (lower(name), project_id)',
      { notLeading: ['named'] },
    ],
    [
      'create table bells (project_id bigint primary key, organization_id bigint references organisations)',
      { notLeading: ['bells_organization_id_fkey'] },
    ],
    ['create table bells (project_id bigint primary key) partition by range (project_id)', {}],
  ])('%s', async (statement, expected) => {
    await client.query(statement)
    const { withoutPrimaryKey, withoutProject, notLeading } = await readCatalogue(url)
    await client.query('drop table bells')
    expect({
      withoutPrimaryKey,
      withoutProject: withoutProject.filter((name) => !Object.hasOwn(NO_PROJECT, name)),
      notLeading: notLeading.filter((name) => !Object.hasOwn(MAY, name)),
    }).toEqual({ withoutPrimaryKey: [], withoutProject: [], notLeading: [], ...expected })
  })
})
