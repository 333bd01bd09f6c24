import { Type } from 'typebox'
import { Exact } from '../../../lib/shapes.ts'
import { instantOf, instantSql } from '../operators/operator.ts'
import { nextTurnOf, nextTurnSql } from '../operators/span.ts'
import type { AttributeCondition } from '../rule.ts'
import { comparisonFaults, comparisonMembers, compileComparison, compileDates } from './comparison.ts'
import { type CompiledCondition, condition } from './condition.ts'
import { FIELD_NAMES, type Field, fieldOf, type InstantField, type ValueField } from './fields.ts'
import { PATH_LENGTH_MAX } from './path.ts'

export const attribute = condition<AttributeCondition>({
  label: 'Attribute',
  shape: Exact({ attribute: Type.String({ minLength: 1, maxLength: PATH_LENGTH_MAX }), ...comparisonMembers('any') }),
  faults: (given) => {
    const field = fieldOf(given.attribute)
    if (field) return comparisonFaults(given, field.kind)
    const names = FIELD_NAMES.map((name) => `\`${name}\``).join(', ')
    const message = `The value of \`attribute\` must be one of ${names}, or a path into the data of a user such as \`data.plan\`.`
    return [{ code: 'parameter_invalid_format', param: 'attribute', message }]
  },
  compile: (given) => {
    const field = known(given)
    const compiled = field.kind === 'date' ? compileInstant(field, given) : compileValue(field, given)
    return { mentions: [field.mention], needs: 'user', ...compiled }
  },
  says: (given) => `${known(given).says} ${compileComparison(given).says}`,
})

function known(given: AttributeCondition): Field {
  const field = fieldOf(given.attribute)
  if (!field) throw new Error('A condition that was checked is about an attribute that is none.')
  return field
}

function compileValue({ value, sql: column }: ValueField, given: AttributeCondition): Omit<CompiledCondition, 'mentions'> {
  const { test, sql, turns } = compileComparison(given)
  const nextTurn: CompiledCondition['nextTurn'] = ({ user }, nowMs) => {
    const at = instantOf(value(user))
    return at === null ? Number.POSITIVE_INFINITY : nextTurnOf(turns, at, nowMs)
  }
  return {
    holds: ({ user }, nowMs) => test(value(user), nowMs),
    ...(turns.length > 0 && { nextTurn }),
    seen: ({ user }) => value(user) ?? null,
    sql: ({ now }) => ({
      holds: sql(column, now),
      ...(turns.length > 0 && { turn: nextTurnSql(turns, instantSql(column), now) }),
    }),
  }
}

function compileInstant({ instant, sql: column }: InstantField, given: AttributeCondition): Omit<CompiledCondition, 'mentions'> {
  const { inside, insideSql, turns } = compileDates(given)
  return {
    holds: ({ user }, nowMs) => inside(instant(user).getTime(), nowMs),
    ...(turns.length > 0 && { nextTurn: ({ user }, nowMs) => nextTurnOf(turns, instant(user).getTime(), nowMs) }),
    seen: ({ user }) => instant(user).toISOString(),
    sql: ({ now }) => ({ holds: insideSql(column, now), ...(turns.length > 0 && { turn: nextTurnSql(turns, column, now) }) }),
  }
}
