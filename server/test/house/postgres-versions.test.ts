/** SQL is that of the oldest PostgreSQL that we promise. `node scripts/clusters.mjs versions` runs tests on it; this finds sooner what it would refuse. */
import { expect, test } from 'vitest'
import { filesUnder, read, sourcesOf } from './sources.ts'
import { templatesOf } from './statements.ts'

/** What PostgreSQL 16 does not know, by the version that brought it. */
const NEWER: [since: 17 | 18, what: RegExp][] = [
  [17, /\bmerge\s+into\b[^;]*\breturning\b/i],
  [17, /\bwhen\s+not\s+matched\s+by\s+source\b/i],
  [17, /\bjson_(?:table|exists|query|value|scalar|serialize)\s*\(/i],
  [17, /\.(?:bigint|boolean|date|decimal|integer|number|string|time|time_tz|timestamp|timestamp_tz)\(\)/i],
  [17, /\b(?:on_error|log_verbosity)\b/i],
  [17, /\bset\s+expression\b/i],
  [17, /\bat\s+local\b/i],
  [17, /(?<![.\w])(?:random\s*\([^)]|to_(?:bin|oct)\s*\(|unicode_assigned\s*\(|uuid_extract_\w+\s*\(|xmltext\s*\()/i],
  [17, /\b(?:pg_wait_events|pg_stat_checkpointer|pg_c_utf8)\b/i],
  [17, /\binterval\s+'-?infinity'/i],
  [18, /\buuidv[47]\s*\(/i],
  [18, /\bgenerated\s+always\s+as\s*\((?:[^()]|\([^()]*\))*\)(?!\s*stored\b)/i],
  [18, /\b(?:without\s+overlaps|not\s+enforced)\b/i],
  [18, /\badd\s+constraint\s+\w+\s+not\s+null\b/i],
  [18, /(?<![.\w])(?:array_(?:sort|reverse)|casefold|crc32c?|l?gamma)\s*\(/i],
  [18, /\bjsonb?_strip_nulls\s*\([^()]*,\s*(?:true|false)\s*\)/i],
  [18, /\bpg_unicode_fast\b/i],
]

/** The clauses `returning`, each to the end of its statement or of the parentheses around it. */
function returnings(text: string): string[] {
  return [...text.matchAll(/\breturning\b/gi)].map(({ index }) => {
    let [at, depth] = [index, 0]
    for (; at < text.length && depth >= 0 && text[at] !== ';'; at++) depth += text[at] === '(' ? 1 : text[at] === ')' ? -1 : 0
    return text.slice(index, at)
  })
}

/** What PostgreSQL 16 would refuse in these statements. */
function newerIn(text: string): string[] {
  const statements = text.replace(/--.*$/gm, '')
  const rows = returnings(statements).filter((clause) => /(?<![.\w])(?:old|new)\s*\.|^returning\s+with\s*\(/i.test(clause))
  return [
    ...rows.map(() => '18: returning old or new'),
    ...NEWER.flatMap(([since, what]) => {
      const found = what.exec(statements)?.[0]
      return found === undefined ? [] : [`${since}: ${found.replace(/\s+/g, ' ')}`]
    }),
  ]
}

test('statements and migrations need no newer PostgreSQL than 16', () => {
  const templates = sourcesOf('server/src').flatMap((source) => templatesOf(source))
  const migrations = filesUnder('server/migrations').filter((path) => path.endsWith('.sql'))
  const texts = [...templates, ...migrations.map((path) => ({ name: path, text: read(path).text }))]
  expect(texts.length).toBeGreaterThan(1000)
  expect(texts.flatMap(({ name, text }) => newerIn(text).map((what) => `${name}: ${what}`))).toEqual([])
})

test.each([
  ['insert into t (a) values (1) on conflict (a) do update set a = 2 returning old.a', ['18: returning old or new']],
  ['with w as (update t set a = 1 returning a, new.b) select a from w', ['18: returning old or new']],
  ['update t set a = 1 returning with (old as o) o.a', ['18: returning old or new']],
  ['with old as (delete from t returning a) delete from u using old where u.a = old.a returning u.a', []],
  ['select n from jsonb_populate_record((select old from t old where old.id = 1), $1) n', []],
  ['create table t (a int generated always as (b + coalesce(c, 1)) virtual)', ['18: generated always as (b + coalesce(c, 1))']],
  ['create table t (a int generated always as (b + (c + 1)) stored, d bigint generated always as identity)', []],
  [
    'merge into t using u on true when matched then delete returning t.a',
    ['17: merge into t using u on true when matched then delete returning'],
  ],
  ["select x from json_table(j, '$' columns (x int))", ['17: json_table(']],
  ['insert into t (id) values (uuidv7())', ['18: uuidv7(']],
  ['select jsonb_strip_nulls(a, true), random(1, 6)', ['17: random(1', '18: jsonb_strip_nulls(a, true)']],
  ['select any_value(a), jsonb_strip_nulls(a), random() from t -- returning old.a', []],
])('%j: %j', (text, found) => expect(newerIn(text)).toEqual(found))
