/**
 * Validation (D-VAL-1 to D-VAL-6): checks values against JSON Schema and returns faults with our error codes.
 * Ajv finds the faults; this file chooses the code and the message of each.
 */
import { Ajv2020, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TObject, TSchema } from 'typebox'
import type { Fault } from './errors.ts'
import { formats } from './formats.ts'
import { jsonBytes } from './json-bytes.ts'
import { isBlank, isLongerThan, trimWhiteSpace } from './text.ts'

/** Checks a value and returns all of its faults. Trims strings with `trim` in place. */
export type Check<T> = (value: unknown) => { faults: Fault[]; value: T }

/** Checking stops at this many errors. A value can have several, of which `faultsOf` keeps one; a reply lists at most 100 faults. */
const ERRORS_MAX = 200

/** For an item of a batch: 20 faults are more than its message has room for, and a batch has a thousand items. */
export const ITEM_ERRORS_MAX = 20

// The limit of the validator that is being compiled.
let errorsMax = ERRORS_MAX

/**
 * Makes a compiled validator throw its errors once it has `errorsMax`: Ajv itself has no limit, and a body can contain a hundred
 * thousand unknown members. That is correct as long as an error of a part is an error of the whole: the only union in a request is
 * with null.
 */
const stopEarly = (code: string): string =>
  code
    .replaceAll('errors++', `if (++errors >= ${errorsMax}) throw vErrors`)
    .replaceAll('errors = vErrors.length', `if ((errors = vErrors.length) >= ${errorsMax}) throw vErrors`)

const ajv = new Ajv2020({ allErrors: true, strict: false, verbose: true, validateFormats: true, code: { process: stopEarly } })

/** Every schema that values are checked against, for the house tests. */
export const checkedSchemas: TSchema[] = []

for (const [name, { test }] of Object.entries(formats)) ajv.addFormat(name, { type: 'string', validate: test })

// Trims before any other keyword looks at the string (D-VAL-3).
ajv.addKeyword({
  keyword: 'trim',
  type: 'string',
  schemaType: 'boolean',
  modifying: true,
  before: 'maxLength',
  errors: false,
  compile: () => (text: string, cxt) => {
    if (cxt) (cxt.parentData as Record<string, unknown>)[cxt.parentDataProperty] = trimWhiteSpace(text)
    return true
  },
})

// A string that must not be empty or only whitespace.
ajv.addKeyword({
  keyword: 'notBlank',
  type: 'string',
  schemaType: 'boolean',
  validate: (_: boolean, text: string) => !isBlank(text),
})

// The inclusive range of a number that is written as text, in a form or a query string.
ajv.addKeyword({
  keyword: 'numericRange',
  type: 'string',
  schemaType: 'array',
  validate: ([min, max]: [number, number], text: string, parent?: AnySchemaObject) => {
    const number = Number(text)
    // Text that is not a number is reported by the pattern, as a wrong format.
    if (Number.isNaN(number) || (parent?.pattern !== undefined && !new RegExp(parent.pattern, 'u').test(text))) return true
    return number >= min && number <= max
  },
})

// A column that the driver returns as a `Date`.
ajv.addKeyword({ keyword: 'instant', schemaType: 'boolean', validate: (_: boolean, value: unknown) => value instanceof Date })
ajv.addFormat('date-time', true)

// The limits of a free-form object (D-F-6).
ajv.addKeyword({
  keyword: 'freeForm',
  type: 'object',
  schemaType: 'object',
  validate: ({ bytesMax }: { bytesMax: number }, value: object) => freeFormProblem(value, bytesMax) === null,
})

const FREE_FORM_KEYS_MAX = 300
const FREE_FORM_KEY_LENGTH_MAX = 255
const FREE_FORM_DEPTH_MAX = 16

/** Which limit of D-F-6 a free-form object exceeds, as the end of a sentence, or null. `keysMax` is for one that may have more keys. */
export function freeFormProblem(value: object, bytesMax: number, keysMax = 0): string | null {
  const keys = Object.keys(value)
  if (keys.length > Math.max(FREE_FORM_KEYS_MAX, keysMax)) return `may have at most ${FREE_FORM_KEYS_MAX} keys`
  if (keys.some((key) => key === '' || isLongerThan(key, FREE_FORM_KEY_LENGTH_MAX))) {
    return `may only have keys of 1 to ${FREE_FORM_KEY_LENGTH_MAX} characters`
  }
  if (isTooDeep(value)) return `may be nested at most ${FREE_FORM_DEPTH_MAX} levels deep`
  if (jsonBytes(value, bytesMax) > bytesMax) return `may take at most ${bytesMax / 1024} KiB`
  return null
}

/** Is a value nested deeper than a free-form object may be? */
export const isTooDeep = (value: unknown): boolean => deeperThan(value, FREE_FORM_DEPTH_MAX)

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const inner of Object.values(value)) if (deeperThan(inner, levels - 1)) return true
  return false
}

/**
 * A check of values against a schema. Call it once, when the module loads. The schema is compiled at the first check: compiling those of
 * every route would take a fifth of the start-up time of a server.
 */
export function checker<S extends TSchema>(schema: S, options: { errorsMax?: number } = {}): Check<Static<S>> {
  checkedSchemas.push(schema)
  let compiled: ValidateFunction | undefined
  return (value) => {
    compiled ??= compile(schema, options.errorsMax)
    return { faults: faultsOf(errorsOf(compiled, value)), value: value as Static<S> }
  }
}

function compile(schema: TSchema, stopsAt = ERRORS_MAX): ValidateFunction {
  errorsMax = stopsAt
  return ajv.compile(schema)
}

/** Returns a function that describes what is wrong with a value, or returns null. For rows in tests, where codes do not matter. */
export function matches<S extends TSchema>(schema: S): (value: unknown) => string | null {
  const validate = compile(schema)
  return (value) => {
    const errors = errorsOf(validate, value)
    return errors.length === 0 ? null : ajv.errorsText(errors)
  }
}

function errorsOf(validate: ValidateFunction, value: unknown): ErrorObject[] {
  try {
    return validate(value) ? NO_ERRORS : (validate.errors ?? NO_ERRORS)
  } catch (stopped) {
    if (!Array.isArray(stopped)) throw stopped
    return stopped
  }
}

const NO_ERRORS: ErrorObject[] = []

type Ranked = Fault & { rank: number }

/** One fault per value: the first in the order of D-VAL-1. */
function faultsOf(errors: ErrorObject[]): Fault[] {
  if (errors.length === 0) return []
  const byParam = new Map<string, Ranked>()
  for (const error of errors) {
    const found = toFault(error)
    const known = byParam.get(found.param ?? '')
    if (!known || found.rank < known.rank) byParam.set(found.param ?? '', found)
  }
  return [...byParam.values()].map(({ rank: _, ...fault }) => fault)
}

function toFault(error: ErrorObject): Ranked {
  const at = (property?: string) => paramOf(error.instancePath, property)
  const name = `\`${at()}\``
  const limit = (error.params as { limit?: number }).limit
  switch (error.keyword) {
    case 'required': {
      const param = at((error.params as { missingProperty: string }).missingProperty)
      return { rank: 0, code: 'parameter_missing', param, message: `The required parameter \`${param}\` is missing.` }
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const { additionalProperty, unevaluatedProperty } = error.params as Record<string, string>
      const param = clip(at(additionalProperty ?? unevaluatedProperty))
      return { rank: 6, code: 'parameter_unknown', param, message: `Unrecognised parameter \`${param}\`.` }
    }
    case 'type':
      return { rank: 1, code: 'parameter_invalid_format', param: at(), message: `The parameter ${name} must be ${typeNames(error)}.` }
    case 'minProperties': {
      const members = Object.keys((error.parentSchema as TObject).properties).map((member) => `\`${member}\``)
      return { rank: 2, code: 'parameter_invalid_empty', param: at(), message: `Give at least ${limit} of ${members.join(', ')}.` }
    }
    case 'notBlank':
      return { rank: 2, code: 'parameter_invalid_empty', param: at(), message: `The parameter ${name} must not be empty.` }
    case 'minLength':
    case 'minItems':
      if (isEmpty(error.data)) {
        const message =
          error.keyword === 'minItems'
            ? `The parameter ${name} must contain at least one value.`
            : `The parameter ${name} must not be empty.`
        return { rank: 2, code: 'parameter_invalid_empty', param: at(), message }
      }
      return {
        rank: 3,
        code: 'validation_failed',
        param: at(),
        message: `The parameter ${name} must have at least ${limit} ${units(error)}.`,
      }
    case 'maxLength':
    case 'maxItems':
      return {
        rank: 3,
        code: 'validation_failed',
        param: at(),
        message: `The parameter ${name} may have at most ${limit} ${units(error)}.`,
      }
    case 'minimum':
    case 'maximum':
    case 'numericRange':
      return { rank: 3, code: 'validation_failed', param: at(), message: `The value of ${name} must be ${rangeOf(error)}.` }
    case 'freeForm': {
      const { bytesMax } = error.schema as { bytesMax: number }
      return {
        rank: 3,
        code: 'validation_failed',
        param: at(),
        message: `The parameter ${name} ${freeFormProblem(error.data as object, bytesMax)}.`,
      }
    }
    default:
      return { rank: 4, code: 'parameter_invalid_format', param: at(), message: formatMessage(error, name) }
  }
}

function formatMessage(error: ErrorObject, name: string): string {
  if (error.keyword === 'enum') {
    const allowed = (error.schema as unknown[]).filter((value) => value !== null).map((value) => `\`${value}\``)
    return clip(`The value of ${name} must be one of ${allowed.join(', ')}.`)
  }
  const problem = (error.parentSchema as { problem?: string } | undefined)?.problem ?? formats[error.schema as string]?.problem
  return `The value of ${name} ${problem ?? 'has the wrong format'}.`
}

function typeNames(error: ErrorObject): string {
  const types = [(error.params as { type: string | string[] }).type].flat()
  return types.map((type) => TYPE_NAMES[type] ?? type).join(' or ')
}

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
  null: 'null',
}

const units = (error: ErrorObject) => (error.keyword.endsWith('Items') ? 'items' : 'characters')
const isEmpty = (data: unknown) => data === '' || (Array.isArray(data) && data.length === 0)

function rangeOf(error: ErrorObject): string {
  if (error.keyword === 'numericRange') {
    const [min, max] = error.schema as [number, number]
    return `from ${min} to ${max}`
  }
  return `${error.keyword === 'minimum' ? 'at least' : 'at most'} ${(error.params as { limit: number }).limit}`
}

/** `/3/email` becomes `[3].email`; the root is `body`. */
function paramOf(instancePath: string, property?: string): string {
  const parts = instancePath.split('/').slice(1).map(unescapePointer)
  if (property !== undefined) parts.push(property)
  if (parts.length === 0) return 'body'
  return parts.map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`)).join('')
}

const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

// The caller chooses names, and messages have at most 500 characters (D-ERR-1).
const clip = (text: string) => (text.length <= 400 ? text : `${text.slice(0, 400).toWellFormed()}…`)
