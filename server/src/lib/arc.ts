/** ARC chains (RFC 8617): what the forwarders of an email attest about it, in numbered sets of three headers. Pure. */

/** A header as it is written, in one line or several. Its name is in lower case. */
type Header = { name: string; raw: string }

const SEAL = 'arc-seal'
const SET: readonly string[] = [SEAL, 'arc-message-signature', 'arc-authentication-results']
const SETS_MAX = 50

/**
 * The headers without those of a chain that no receiver can find valid, whatever its signatures are (D-MTA-59): sets that are not 1 to n,
 * more than 50, or one that its seal calls failed. Steps 1 to 3 of RFC 8617 §5.2.
 */
export const withoutFailedChain = <H extends Header>(headers: H[]): H[] =>
  canBeValid(headers) ? headers : headers.filter(({ name }) => !SET.includes(name))

/** Whether the ARC headers are as those of a valid chain, or there are none. */
function canBeValid(headers: Header[]): boolean {
  const seals = headers.filter(({ name }) => name === SEAL)
  if (seals.length > SETS_MAX) return false
  const isComplete = SET.every((one) => {
    const instances = headers.filter(({ name }) => name === one).map(instanceOf)
    return instances.length === seals.length && instances.sort((a, b) => a - b).every((instance, at) => instance === at + 1)
  })
  return isComplete && seals.every((seal) => tagOf(seal, 'cv')?.toLowerCase() === (instanceOf(seal) === 1 ? 'none' : 'pass'))
}

/** The number of the set that a header belongs to; 0 if it has none. */
function instanceOf(header: Header): number {
  const value = tagOf(header, 'i') ?? ''
  return /^\d{1,2}$/.test(value) ? Number(value) : 0
}

/** The first value of a tag. Comments can stand around the instance in ARC-Authentication-Results. */
function tagOf({ raw }: Header, name: string): string | undefined {
  const tags = raw
    .slice(raw.indexOf(':') + 1)
    .replace(/\([^()]*\)/g, ' ')
    .split(';')
    .map((tag) => tag.split('=', 2).map((part) => part.trim()))
  return tags.find(([key]) => key === name)?.[1]
}
