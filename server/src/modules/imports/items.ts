/** Converts a row to a user upsert: its cells become fields, with the types of the mapping. */
import type { Fault } from '../../lib/errors.ts'
import { isBlank, trimWhiteSpace } from '../../lib/text.ts'
import type { Profile } from '../users/index.ts'
import { checkItem, checkItemWithoutId } from '../users/tasks.ts'
import { type Column, type Target, targetOf } from './columns.ts'
import { convert, notConverted } from './conversions.ts'

/** Reads the rows of a file with these columns. */
export function rowReader(columns: Column[]): (cells: string[]) => { profile: Profile } | { faults: Fault[] } {
  const targets = columns.map(({ field }) => (field === null ? undefined : targetOf(field)))
  return (cells) => {
    const faults = cellFaults(cells, targets)
    if (faults.length > 0) return { faults }
    const item = itemOf(cells, targets)
    if ('external_id' in item || 'anonymous_id' in item) return checkItem(item)
    return 'email' in item || 'phone' in item ? checkItemWithoutId(item) : { faults: [NO_ID] }
  }
}

const NO_ID: Fault = {
  code: 'resource_missing',
  message: 'The row has no id. Fill in its `external_id` or `anonymous_id`, or the email address or phone number of an existing user.',
}

function cellFaults(cells: string[], targets: (Target | undefined)[]): Fault[] {
  // Spreadsheets leave out the last cells of a row when they are empty, and some programs add empty ones.
  if (!cells.slice(targets.length).every(isEmpty)) {
    return [
      { code: 'validation_failed', message: `The row has ${cells.length} cells, but the header has ${targets.length}. Correct the row.` },
    ]
  }
  if (cells.some((cell) => cell.includes('\0'))) {
    return [{ code: 'parameter_invalid_format', message: 'The row contains the character U+0000, which cannot be stored. Remove it.' }]
  }
  return cells.flatMap((cell, index): Fault[] => {
    const target = targets[index]
    if (!target || 'profile' in target || isEmpty(cell)) return []
    const { path, conversion } = target
    if (conversion === 'text' || convert(cell, conversion) !== undefined) return []
    return [{ code: 'parameter_invalid_format', message: `The value of \`${path}\` ${notConverted(conversion)}` }]
  })
}

/** An empty cell keeps the stored value, so that a column which is empty in the source system deletes nothing. */
const isEmpty = isBlank

function itemOf(cells: string[], targets: (Target | undefined)[]): Record<string, unknown> {
  const item: Record<string, unknown> = {}
  const data: [string, unknown][] = []
  for (const [index, cell] of cells.entries()) {
    const target = targets[index]
    if (!target || isEmpty(cell)) continue
    if ('profile' in target) item[target.profile] = trimWhiteSpace(cell)
    else if (target.keys.length === 1) data.push([target.keys[0] as string, convert(cell, target.conversion)])
    else item[target.path] = convert(cell, target.conversion)
  }
  // `Object.fromEntries`, because a key may be `__proto__`.
  return data.length > 0 ? { ...item, data: Object.fromEntries(data) } : item
}
