/** How values of the driver become those of the code. */
import type pg from 'pg'

// The type id of bigint[], for which the driver has no name.
const INT8_ARRAY = 1016

function safeInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new Error(`int8 out of the safe range: ${text}`)
  return number
}

/**
 * The driver returns int8 as text, but ids fit a number. Connections are in UTC, so instants have the form `2026-11-20 02:56:21.664+00`,
 * which differs from ISO 8601 in two characters.
 */
export function parseValues(types: typeof pg.types): void {
  types.setTypeParser(types.builtins.TIMESTAMPTZ, (text) => new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`))
  types.setTypeParser(types.builtins.INT8, safeInteger)
  types.setTypeParser(INT8_ARRAY as never, (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(safeInteger)))
}
