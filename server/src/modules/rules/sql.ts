/** A rule as parts of a statement over many people. */
import { join, raw, type Sql, sql } from '../../infra/postgres/db.ts'
import type { CompiledRule } from './compile.ts'
import type { SqlScope } from './conditions/condition.ts'
import { groupOf } from './nodes.ts'
import type { Rule } from './rule.ts'

export { matchesEventSql } from './conditions/event-data.ts'

/**
 * For `select p.id, <holds>, <turn> from (select u.id, <columns> from users u where …) p`. The columns are `c0`, `c1` … for the
 * conditions in the order of the rule, booleans that are never null, and the turns of those that have any.
 */
export type RuleSql = { columns: Sql; holds: Sql; turn: Sql }

/** Asks at `now`, of the events themselves or of the times kept of them. From the events, conditions on them have no turns. */
export function ruleSql({ rule, conditions }: CompiledRule, scope: SqlScope): RuleSql {
  const parts = conditions.map(({ compiled }) => compiled.sql(scope))
  const turns = parts.flatMap(({ turn }, index) => (turn ? [{ turn, name: `t${index}` }] : []))
  return {
    columns: join(
      [
        ...parts.map(({ holds }, index) => sql`${holds} as ${raw(`c${index}`)}`),
        ...turns.map(({ turn, name }) => sql`${turn} as ${raw(name)}`),
      ],
      ', ',
    ),
    holds: holdsSql(rule, numbers()),
    turn:
      turns.length === 0
        ? sql`null::timestamptz`
        : sql`least(${join(
            turns.map(({ name }) => raw(`p.${name}`)),
            ', ',
          )})`,
  }
}

const SEPARATORS = { all: ' and ', any: ' or ', none: ' or ', not: '' }

function holdsSql(rule: Rule, next: () => number): Sql {
  const group = groupOf(rule)
  if (!group) return raw(`p.c${next()}`)
  const inside = sql`(${join(
    group.of.map((child) => holdsSql(child, next)),
    SEPARATORS[group.is],
  )})`
  return group.is === 'none' || group.is === 'not' ? sql`(not ${inside})` : inside
}

/** Conditions are met in the order in which they are numbered. */
function numbers(): () => number {
  let number = 0
  return () => number++
}
