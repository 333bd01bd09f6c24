/** What an entry keeps of the states before and after a write: the members that changed, without secrets, in a limited size. */
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../lib/canonical-json.ts'

type Members = Record<string, unknown>

/** Parts of names of members whose values are secrets. */
const SECRET = [
  'secret',
  'password',
  'passwd',
  'token',
  'api_key',
  'apikey',
  'api-key',
  'private_key',
  'authorization',
  'cookie',
  'credential',
]
export const MASK = '[masked]'

/** A member with more JSON than this is kept as its size and its hash. */
const MEMBER_BYTES_MAX = 16_384

/** The times of the object, which the entry has anyway. */
const TIMES = ['created_at', 'updated_at']

/** The members that differ. If a member is an object in both states, only its members that differ. */
export function changesOf(before: Members | undefined, after: Members | undefined): { before: Members | null; after: Members | null } {
  if (!before || !after) return { before: before ? kept(before) : null, after: after ? kept(after) : null }
  const [left, right] = differing(before, after, 1)
  return { before: kept(left), after: kept(right) }
}

function differing(before: Members, after: Members, levels: number): [Members, Members] {
  const [left, right]: [Members, Members] = [{}, {}]
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[name], after[name]]
    if (canonicalJson(was) === canonicalJson(is)) continue
    const [a, b] = levels > 0 && isMembers(was) && isMembers(is) ? differing(was, is, levels - 1) : [was, is]
    if (a !== undefined) left[name] = a
    if (b !== undefined) right[name] = b
  }
  return [left, right]
}

/** Masks secrets and shortens what is large. */
export const kept = (members: Members): Members =>
  Object.fromEntries(
    Object.entries(members)
      .filter(([name]) => !TIMES.includes(name))
      .map(([name, value]) => [name, shortened(masked(name, value))]),
  )

function masked(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(name, item))
  if (isMembers(value)) return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, masked(nameOf(value, inner), item)]))
  return typeof value === 'string' && value !== '' && isSecret(name) ? MASK : value
}

/** What a member is called: the value of a pair such as a header has the name beside it. */
const nameOf = ({ name }: Members, member: string): string => (member === 'value' && typeof name === 'string' ? name : member)

const isSecret = (name: string): boolean => SECRET.some((part) => name.toLowerCase().includes(part))

function shortened(value: unknown): unknown {
  const json = JSON.stringify(value) ?? 'null'
  const bytes = Buffer.byteLength(json)
  return bytes <= MEMBER_BYTES_MAX ? value : { bytes, sha256: createHash('sha256').update(json).digest('hex') }
}

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)
