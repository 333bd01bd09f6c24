/** Writes a rule as parts of a statement over many users. */
import { join, raw, type Sql, sql } from '../../infra/postgres/db.ts'
import type { CompiledRule } from './compile.ts'
import type { SqlScope } from './conditions/condition.ts'
import { joinedTimes } from './conditions/counted.ts'
import { groupOf } from './nodes.ts'
import type { Rule } from './rule.ts'

export { matchesEventSql } from './conditions/event-data.ts'

/**
 * For `select p.id, <holds>, <nextChangeAt> from (select u.id, <columns> from users u <joins> where …) p`. The columns are `c0`, `c1` … for the
 * conditions in the order of the rule, booleans that are never null, and the next changes of the conditions that depend on time. On tracked times,
 * users that only an event can make match may be left out.
 */
export type RuleSql = {
  columns: Sql
  joins: Sql
  holds: Sql
  nextChangeAt: Sql
  /** Whether `nextChangeAt` can be anything but null. */
  isTimed: boolean
  /** Whether a condition reads the user’s row. */
  readsUsers: boolean
}

/** A rule in SQL, evaluated at `now`, on events or on tracked times. On events, conditions on events have no next change. */
export function ruleSql({ rule, conditions, needs }: CompiledRule, scope: SqlScope): RuleSql {
  const parts = conditions.map(({ compiled }) => compiled.sql(scope))
  const changes = parts.flatMap(({ nextChangeAt }, index) => (nextChangeAt ? [{ nextChangeAt, name: `t${index}` }] : []))
  return {
    columns: join(
      [
        ...parts.map(({ holds }, index) => sql`${holds} as ${raw(`c${index}`)}`),
        ...changes.map(({ nextChangeAt, name }) => sql`${nextChangeAt} as ${raw(name)}`),
      ],
      ', ',
    ),
    joins: joinedTimes(scope, requiredTimes({ rule, conditions })),
    holds: holdsSql(rule, numbers()),
    isTimed: changes.length > 0,
    readsUsers: needs.user,
    nextChangeAt:
      changes.length === 0
        ? sql`null::timestamptz`
        : sql`least(${join(
            changes.map(({ name }) => raw(`p.${name}`)),
            ', ',
          )})`,
  }
}

/** The trackers without whose times no user matches, by their index in the rule. */
function requiredTimes({ rule, conditions }: Pick<CompiledRule, 'rule' | 'conditions'>): ReadonlySet<number> {
  const required = new Set<number>()
  const next = numbers()
  let trackers = 0
  const read = (rule: Rule, mustHold: boolean): void => {
    const group = groupOf(rule)
    if (group) {
      for (const child of group.of) read(child, mustHold && group.is === 'all')
      return
    }
    const { tracker, needsTimes } = (conditions[next()] as CompiledRule['conditions'][number]).compiled
    if (mustHold && needsTimes) required.add(trackers)
    if (tracker) trackers++
  }
  read(rule, true)
  return required
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

/** Numbers the conditions in the order of the rule. */
function numbers(): () => number {
  let number = 0
  return () => number++
}
