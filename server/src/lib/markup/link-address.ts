/** The address of a link in plain text, which Liquid can make depend on conditions. Pure, in masked text. */

/** An address, or the address in each branch of a condition; null where there is none. */
export type LinkAddress = string | { branches: Branch[]; end: string }
/** `tag` is the placeholder that begins the branch, and `name` its name. */
export type Branch = { tag: string; name: string; address: LinkAddress | null }

/** The name of the tag of a placeholder: null if it has output, undefined if the part is no placeholder. */
export type NameOf = (part: string) => string | null | undefined

const CONDITIONS = new Set(['if', 'unless', 'case'])
const ALTERNATIVES = new Set(['elsif', 'else', 'when'])
const CONDITION_ENDS = new Set(['endif', 'endunless', 'endcase'])

/** Whether a tag begins a condition, begins an alternative of one, or ends one. */
export function roleOf(name: string | null | undefined): 'begin' | 'alternative' | 'end' | null {
  if (typeof name !== 'string') return null
  if (CONDITIONS.has(name)) return 'begin'
  if (ALTERNATIVES.has(name)) return 'alternative'
  return CONDITION_ENDS.has(name) ? 'end' : null
}

/** The address that plain text shows for the value of `href`, split at its placeholders; null if it cannot be opened from there. */
export function addressOf(parts: string[], nameOf: NameOf): LinkAddress | null {
  const filled = parts.filter((part) => part !== '')
  return conditional(filled, nameOf) ?? shown(filled, nameOf)
}

/** The branches of a value that is one condition; undefined of any other. */
function conditional(parts: string[], nameOf: NameOf): LinkAddress | undefined {
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (roleOf(nameOf(first)) !== 'begin' || roleOf(nameOf(last)) !== 'end') return undefined
  const branches: { tag: string; name: string; parts: string[] }[] = [{ tag: first, name: nameOf(first) ?? '', parts: [] }]
  for (const part of parts.slice(1, -1)) {
    const role = roleOf(nameOf(part))
    // A condition in a condition is shown as it is.
    if (role === 'begin' || role === 'end') return undefined
    if (role === 'alternative') branches.push({ tag: part, name: nameOf(part) ?? '', parts: [] })
    else branches.at(-1)?.parts.push(part)
  }
  return { branches: branches.map(({ tag, name, parts }) => ({ tag, name, address: shown(parts, nameOf) })), end: last }
}

const ADDRESSED = /^(?:mailto|tel):/i

function shown(parts: string[], nameOf: NameOf): string | null {
  const [first = ''] = parts
  if (!ADDRESSED.test(first)) return /^https?:/i.test(first) || nameOf(first) !== undefined ? parts.join('') : null
  const query = parts.findIndex((part) => part.includes('?'))
  const end = query === -1 ? parts.length : query
  const address = [...parts.slice(0, end), parts[end]?.split('?')[0] ?? ''].map(decoded).join('').replace(ADDRESSED, '')
  // Tags without output are kept from what is left out, because a condition may end there.
  const rest = parts.slice(end + 1).filter((part) => typeof nameOf(part) === 'string')
  return address === '' ? null : address + rest.join('')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The address in brackets after the words of its link, or alone. */
export function written(address: LinkAddress, words: 'after words' | 'alone'): string {
  if (words === 'alone') return bare(address)
  if (isEverywhere(address)) return ` (${bare(address)})`
  const { branches, end } = address as Exclude<LinkAddress, string>
  return branches.map(({ tag, address }) => tag + (address === null ? '' : written(address, words))).join('') + end
}

const bare = (address: LinkAddress): string =>
  typeof address === 'string'
    ? address
    : address.branches.map(({ tag, address }) => tag + (address === null ? '' : bare(address))).join('') + address.end

/** Is there an address whatever the conditions are? */
const isEverywhere = (address: LinkAddress): boolean =>
  typeof address === 'string' ||
  (address.branches.at(-1)?.name === 'else' && address.branches.every(({ address }) => address !== null && isEverywhere(address)))
