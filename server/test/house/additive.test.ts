/** The release before works beside a newer schema: migrations add, and drop what no release reads any more. */
import { expect, test } from 'vitest'
import { filesUnder, read } from './sources.ts'

/** The last migration before the rule. */
const RULE_FROM = 50
/** What a migration may take away, with the reason why the release before does not miss it: `0060 drop table name`. */
const ALLOWED: string[] = []

const TAKES_AWAY =
  /\b(?:drop (?:table|column|view|function|sequence|schema)|rename (?:column|to|constraint)|alter column \w+ (?:type|set not null))\b[^;,]*/gi

const takenAway = (version: number, sql: string) => {
  const statements = sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ')
  return [...statements.matchAll(TAKES_AWAY)].map(([what]) => `${String(version).padStart(4, '0')} ${what.trim()}`)
}

test('migrations take nothing away that the release before reads', () => {
  const files = filesUnder('server/migrations').filter((path) => path.endsWith('.sql'))
  const versions = files.map((path) => ({ path, version: Number(/(\d{4})_/.exec(path)?.[1]) })).filter(({ version }) => version > RULE_FROM)
  expect(versions.flatMap(({ path, version }) => takenAway(version, read(path).text)).filter((what) => !ALLOWED.includes(what))).toEqual([])
})

test.each([
  ['alter table users\n  drop column email;', ['0051 drop column email']],
  ['alter table users rename column a to b;', ['0051 rename column a to b']],
  ['drop table if exists gone; -- drop table said', ['0051 drop table if exists gone']],
  ['alter table users alter column n type text, add column m int;', ['0051 alter column n type text']],
  ['alter table users add column n int not null default 0; drop index users_n; create table x (id int);', []],
])('%j takes away %j', (sql, found) => expect(takenAway(51, sql)).toEqual(found))
