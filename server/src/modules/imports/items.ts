/** Converts a row to a user upsert: its cells become fields, with the types of the mapping. */
import type { Fault } from '../../lib/errors.ts'
import { isBlank, trimWhiteSpace } from '../../lib/text.ts'
import { isTime } from '../../lib/times.ts'
import type { Profile } from '../users/index.ts'
import { checkItem } from '../users/tasks.ts'
import { type Column, type Conversion, type Target, targetOf } from './columns.ts'

/** Reads the rows of a file with these columns. */
export function rowReader(columns: Column[]): (cells: string[]) => { profile: Profile } | { faults: Fault[] } {
  const targets = columns.map(({ field }) => (field === null ? undefined : targetOf(field)))
  return (cells) => {
    const faults = cellFaults(cells, targets)
    if (faults.length > 0) return { faults }
    const item = itemOf(cells, targets)
    return 'external_id' in item || 'anonymous_id' in item ? checkItem(item) : { faults: [NO_ID] }
  }
}

const NO_ID: Fault = {
  code: 'resource_missing',
  message: 'The row has no id. Fill in its `external_id` or `anonymous_id`.',
}

function cellFaults(cells: string[], targets: (Target | undefined)[]): Fault[] {
  if (cells.length !== targets.length) {
    return [
      { code: 'validation_failed', message: `The row has ${cells.length} cells, but the header has ${targets.length}. Correct the row.` },
    ]
  }
  if (cells.some((cell) => cell.includes('\0'))) {
    return [{ code: 'parameter_invalid_format', message: 'The row contains the character U+0000, which cannot be stored. Remove it.' }]
  }
  return cells.flatMap((cell, index): Fault[] => {
    const target = targets[index]
    if (!target || 'profile' in target || isEmpty(cell) || convert(cell, target.conversion) !== undefined) return []
    const message = `The value of \`data.${target.key}\` is not a ${target.conversion}${HINTS[target.conversion]}.`
    return [{ code: 'parameter_invalid_format', message }]
  })
}

const HINTS: Record<Conversion, string> = {
  text: '',
  number: '. Write it like `1234.5`',
  boolean: '. Write `true` or `false`',
  date: '. Use ISO 8601, such as `2026-11-20` or `2026-11-20T09:30:00Z`',
}

/** An empty cell keeps the stored value, so that a column which is empty in the source system deletes nothing. */
const isEmpty = isBlank

function itemOf(cells: string[], targets: (Target | undefined)[]): Record<string, unknown> {
  const item: Record<string, unknown> = {}
  const data: [string, unknown][] = []
  for (const [index, cell] of cells.entries()) {
    const target = targets[index]
    if (!target || isEmpty(cell)) continue
    if ('profile' in target) item[target.profile] = cell
    else data.push([target.key, convert(cell, target.conversion)])
  }
  // `Object.fromEntries`, because a key may be `__proto__`.
  return data.length > 0 ? { ...item, data: Object.fromEntries(data) } : item
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const TRUE = /^(?:true|yes|1)$/i
const FALSE = /^(?:false|no|0)$/i

/** The value of a cell. Undefined if the text cannot be converted. */
function convert(cell: string, conversion: Conversion): string | number | boolean | undefined {
  const text = trimWhiteSpace(cell)
  switch (conversion) {
    case 'text':
      return cell
    case 'number':
      return NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined
    case 'boolean':
      return TRUE.test(text) ? true : FALSE.test(text) ? false : undefined
    case 'date':
      return isTime(text) ? text : undefined
    default:
      return conversion satisfies never
  }
}
