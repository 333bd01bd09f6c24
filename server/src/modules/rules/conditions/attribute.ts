import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Fault } from '../../../lib/errors.ts'
import { declaredInstantOf, declaredInstantSql, instantOf, instantSql } from '../operators/operator.ts'
import { nextChangeOf, nextChangeSql } from '../operators/span.ts'
import type { AttributeCondition } from '../rule.ts'
import { As, Comparing, comparisonFaults, compileComparison, compileDates } from './comparison.ts'
import { type CompiledCondition, condition } from './condition.ts'
import { FIELD_NAMES, type Field, fieldOf, type InstantField, type ValueField } from './fields.ts'
import { PATH_LENGTH_MAX } from './path.ts'

export const attribute = condition<AttributeCondition>({
  label: 'Attribute',
  description: 'Users whose attribute passes the comparison. A typed attribute accepts only the operators for its type.',
  shape: Comparing(
    {
      attribute: Type.String({
        minLength: 1,
        maxLength: PATH_LENGTH_MAX,
        description: 'An attribute of the user, or a path into the user’s data, such as `data.plan`.',
      }),
      as: As,
    },
    'any',
  ),
  example: { attribute: 'data.plan', is: 'pro' },
  faults: (given) => {
    const field = fieldOf(given.attribute)
    if (field && given.as !== undefined && field.kind !== 'any') return [notDeclarable]
    if (field) return comparisonFaults(given, given.as ?? field.kind)
    const names = FIELD_NAMES.map((name) => `\`${name}\``).join(', ')
    const message = `The value of \`attribute\` must be one of ${names}, or a path into the user’s data, such as \`data.plan\`.`
    return [{ code: 'parameter_invalid_format', param: 'attribute', message }]
  },
  compile: (given) => {
    const field = knownField(given)
    const compiled = field.kind === 'date' ? compileInstant(field, given) : compileValue(field, given)
    return { dependencies: [field.dependency], needs: 'user', ...compiled }
  },
  describe: (given) => `${knownField(given).description} ${compileComparison(given).description}`,
})

const notDeclarable: Fault = {
  code: 'validation_failed',
  param: 'as',
  message: 'Only paths into the user’s data can be declared with `as`. Omit it, because the attribute has a type.',
}

function knownField(given: AttributeCondition): Field {
  const field = fieldOf(given.attribute)
  if (!field) throw new Error('A checked condition has an unknown attribute.')
  return given.as === 'date' && field.kind !== 'date' ? declaredDate(field) : field
}

const declaredDate = ({ value, sql, ...field }: ValueField): InstantField => ({
  ...field,
  kind: 'date',
  instant: (user) => declaredInstantOf(value(user)),
  evidence: (user) => value(user) ?? null,
  sql: declaredInstantSql(sql),
})

function compileValue({ value, sql: column, text }: ValueField, given: AttributeCondition): Omit<CompiledCondition, 'dependencies'> {
  const { test, sql: testSql, changeOffsets } = compileComparison(given)
  const nextChangeAt: CompiledCondition['nextChangeAt'] = ({ user }, nowMs) => {
    const at = instantOf(value(user))
    return at === null ? Number.POSITIVE_INFINITY : nextChangeOf(changeOffsets, at, nowMs)
  }
  return {
    holds: ({ user }, nowMs) => test(value(user), nowMs),
    ...(changeOffsets.length > 0 && { nextChangeAt }),
    evidence: ({ user }) => value(user) ?? null,
    sql: ({ now }) => ({
      holds: testSql(column, now, text),
      ...(changeOffsets.length > 0 && { nextChangeAt: nextChangeSql(changeOffsets, instantSql(column), now) }),
    }),
  }
}

function compileInstant(
  { instant, evidence, sql: column }: InstantField,
  given: AttributeCondition,
): Omit<CompiledCondition, 'dependencies'> {
  const { inside, insideSql, changeOffsets } = compileDates(given)
  const nextChangeAt: CompiledCondition['nextChangeAt'] = ({ user }, nowMs) => {
    const at = instant(user)
    return at === null ? Number.POSITIVE_INFINITY : nextChangeOf(changeOffsets, at, nowMs)
  }
  return {
    holds: ({ user }, nowMs) => {
      const at = instant(user)
      return at !== null && inside(at, nowMs)
    },
    ...(changeOffsets.length > 0 && { nextChangeAt }),
    evidence: ({ user }) => evidence(user),
    sql: ({ now }) => ({
      holds: sql`coalesce(${insideSql(column, now)}, false)`,
      ...(changeOffsets.length > 0 && { nextChangeAt: nextChangeSql(changeOffsets, column, now) }),
    }),
  }
}
