/** Checks that a value is a rule. The other code of this folder relies on it. */
import type { Fault } from '../../lib/errors.ts'
import { type Check, checker } from '../../lib/validate.ts'
import type { ConditionKind } from './conditions/condition.ts'
import { conditionsOf, GROUPS, type Group, KIND_NAMES, kindOf, pathIn } from './nodes.ts'
import type { Rule } from './rule.ts'

export const DEPTH_MAX = 8
export const CHILDREN_MAX = 50
export const CONDITIONS_MAX = 100

/** The faults of a rule at `param`, each with its full path, such as `rule.all[1].where[0].greater_than`. */
export function checkRule(value: unknown, param: string): Fault[] {
  const faults = nodeFaults(value, param, 0)
  if (faults.length > 0) return faults
  if (conditionsOf(value as Rule).length <= CONDITIONS_MAX) return []
  return [
    broken(
      param,
      `A rule may have at most ${CONDITIONS_MAX} conditions. Create lists for parts of \`${param}\` and use conditions on those lists.`,
    ),
  ]
}

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

const badShape = (param: string, must: string): Fault => ({
  code: 'parameter_invalid_format',
  param,
  message: `The parameter \`${param}\` must be ${must}.`,
})

const NAMES = [...GROUPS, ...KIND_NAMES]

function nodeFaults(value: unknown, path: string, depth: number): Fault[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [badShape(path, 'an object')]
  const names = NAMES.filter((name) => Object.hasOwn(value, name))
  const [name] = names
  if (name === undefined) {
    const message = `The rule \`${path}\` must have one of ${NAMES.map((one) => `\`${one}\``).join(', ')}.`
    return [{ code: 'parameter_missing', param: path, message }]
  }
  if (names.length > 1) {
    return [
      broken(
        path,
        `The rule \`${path}\` can have only one of ${names.map((one) => `\`${one}\``).join(', ')}. Combine several with \`all\`.`,
      ),
    ]
  }
  const group = GROUPS.find((one) => one === name)
  return group ? groupFaults(value as Record<string, unknown>, group, path, depth + 1) : conditionFaults(value, path)
}

function groupFaults(value: Record<string, unknown>, is: Group['is'], path: string, depth: number): Fault[] {
  const others = Object.keys(value).filter((name) => name !== is)
  if (others.length > 0) return others.slice(0, CHILDREN_MAX).map((name) => unknown(`${path}.${name}`))
  const at = `${path}.${is}`
  if (depth > DEPTH_MAX)
    return [
      broken(path, `Rules may be nested at most ${DEPTH_MAX} levels deep. Create a list for \`${path}\` and use a condition on that list.`),
    ]
  const inside = value[is]
  if (is === 'not') return nodeFaults(inside, at, depth)
  if (!Array.isArray(inside)) return [badShape(at, 'an array')]
  if (inside.length === 0) {
    return [{ code: 'parameter_invalid_empty', param: at, message: `The parameter \`${at}\` must contain at least one value.` }]
  }
  if (inside.length > CHILDREN_MAX) return [broken(at, `The parameter \`${at}\` may have at most ${CHILDREN_MAX} items.`)]
  return inside.flatMap((child, index) => nodeFaults(child, pathIn(path, is, index), depth))
}

const PARAM_LENGTH_MAX = 400

function unknown(path: string): Fault {
  const param = path.length <= PARAM_LENGTH_MAX ? path : `${path.slice(0, PARAM_LENGTH_MAX).toWellFormed()}…`
  return { code: 'parameter_unknown', param, message: `Unrecognised parameter \`${param}\`.` }
}

const shapes = new Map<ConditionKind, Check<unknown>>()

function conditionFaults(value: object, path: string): Fault[] {
  const kind = kindOf(value)
  const check = shapes.get(kind) ?? checker(kind.shape)
  shapes.set(kind, check)
  const { faults } = check(value)
  return (faults.length > 0 ? faults : (kind.faults?.(value) ?? [])).map((fault) => withFullPath(fault, path))
}

/** Replaces the param of a fault, which is relative to the condition, by the full path. `body` stands for the condition itself. */
function withFullPath({ code, param = 'body', message }: Fault, path: string): Fault {
  const full = param === 'body' ? path : `${path}.${param}`
  return { code, param: full, message: message.replaceAll(`\`${param}\``, () => `\`${full}\``) }
}
