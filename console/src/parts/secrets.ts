import type { Write } from '../session/last-write.ts'

/** Members and headers whose values are secrets. A test compares it with the API description. */
const SECRET = /authorization|cookie|password|secret|token|service_account|(?:api|access|auth|private|signing)[-_]?key/i
const MASK = '[secret]'

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, SECRET.test(name) && inner !== null ? MASK : masked(inner)]),
  )
}

/** A write with a mask in place of each secret, so that its code may be shown to others. */
export const withoutSecrets = (write: Write): Write => (write.body === undefined ? write : { ...write, body: masked(write.body) })
