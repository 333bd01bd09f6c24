/**
 * How many bytes a value takes as JSON with every number written out, as PostgreSQL writes it: `1e308` in a column of type jsonb is read
 * as 309 digits. A size that cannot exceed `enough` is not counted exactly. Pure.
 */
export function jsonBytes(value: object, enough = 0): number {
  const text = JSON.stringify(value)
  const added = text.includes('e+') || text.includes('e-') ? addedBytes(value) : 0
  // A string of n UTF-16 units takes at most 3n bytes, so most objects need no exact count.
  return added + (text.length * 3 + added <= enough ? text.length : Buffer.byteLength(text))
}

/** What the numbers of a value take without exponents, beyond what they take with them. */
function addedBytes(value: unknown): number {
  if (typeof value === 'number') return addedDigits(String(value))
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, inner: unknown) => sum + addedBytes(inner), 0)
}

function addedDigits(text: string): number {
  const [mantissa = '', exponent] = text.split('e')
  if (exponent === undefined) return 0
  const sign = mantissa.startsWith('-') ? 1 : 0
  const digits = mantissa.length - sign - (mantissa.includes('.') ? 1 : 0)
  const places = Number(exponent)
  // JavaScript writes exponents from 1e21 and below 1e-6 only, where all digits are on one side of the point.
  return sign + (places > 0 ? places + 1 : '0.'.length - places - 1 + digits) - text.length
}
