/** The first rows of a dry run as they would be stored, to check the mapping and the formats by eye. */
import { type Profile, type UserRecord, withoutKeys, withValuesAtPaths } from '../users/index.ts'
import type { Outcome } from './outcomes.ts'
import type { FirstRow } from './schema.ts'

export const FIRST_ROWS_MAX = 10
const BYTES_MAX = 65_536

/** The first rows among these outcomes, at most `limit`: what the file says about each user, as it would be stored. */
export function firstRowsOf(outcomes: Outcome[], limit: number): FirstRow[] {
  const stored = outcomes
    .flatMap((outcome) => (outcome.is === 'failed' || outcome.is === 'skipped' ? [] : [outcome]))
    .sort((a, b) => a.row.line - b.row.line)
    .slice(0, limit)
    .map(({ row, profile, user }): FirstRow => ({ line: row.line, ...givenPart(profile, user) }))
  let bytes = 0
  return stored.filter((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row))
    return bytes <= BYTES_MAX
  })
}

const FIELDS = ['external_id', 'anonymous_id', 'email', 'phone', 'timezone', 'locale'] as const

/** The values of a user that a row gave. The others may not be visible to the caller. */
function givenPart(profile: Profile, user: UserRecord): Omit<FirstRow, 'line'> {
  const fields = FIELDS.flatMap((name) => (profile[name] === undefined ? [] : [[name, user[name]]]))
  const keys = Object.keys(profile.data ?? {})
  const stored = Object.fromEntries(Object.entries(user.data).filter(([key]) => keys.includes(key)))
  const data = withValuesAtPaths(stored, profile.paths ?? {})
  return { ...Object.fromEntries(fields), ...(Object.keys(data).length > 0 && { data }) }
}

/** The row without these keys of `data`, which the caller may not see. */
export function visibleRow({ data = {}, ...row }: FirstRow, hidden: Set<string>): FirstRow {
  const visible = withoutKeys(data, hidden)
  return { ...row, ...(Object.keys(visible).length > 0 && { data: visible }) }
}
