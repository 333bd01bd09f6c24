/** What a suppressed address keeps of several suppressions. Pure. */
import { SUPPRESSION_REASONS, type SuppressionReason } from './schema.ts'

/** A suppression, with the weaker one that it covers. */
type Covering = { reason: SuppressionReason; stops_transactional: boolean; covers?: Covering }

/** A suppression as it is stored, with what it covers in its source. */
type Stored = { reason: SuppressionReason; stops_transactional: boolean; source: Record<string, unknown> }

function coveringOf({ reason, stops_transactional, source }: Stored): Covering {
  const covers = source.covers as Covering | undefined
  return { reason, stops_transactional, ...(covers && { covers }) }
}

/** A suppression and those that it covers, each by itself. */
const allIn = ({ covers, ...one }: Covering): Covering[] => [one, ...(covers ? allIn(covers) : [])]

/** Whether the owner of the address has unsubscribed from everything, also where another suppression covers that. */
export const isUnsubscribed = (stored: Stored): boolean => allIn(coveringOf(stored)).some(({ reason }) => reason === 'unsubscribed_all')

const weightOf = ({ reason, stops_transactional }: Pick<Covering, 'reason' | 'stops_transactional'>): number =>
  2 * SUPPRESSION_REASONS.indexOf(reason) + (stops_transactional ? 1 : 0)

/** An erasure is about a user, an opt-out is the owner’s own, and the others are about the address. Each kind covers those after it. */
const KINDS: readonly (readonly SuppressionReason[])[] = [['erased'], ['complaint', 'hard_bounce', 'manual'], ['unsubscribed_all']]

/**
 * Whether an opt-out from everything was made on a page of a message to another address of the user. That proves less than one made with the
 * address itself, such as STOP or the page of a message to it (`is_recipient`), or over the API.
 */
const isFromElsewhere = ({ by, is_recipient }: Record<string, unknown>): boolean => by === 'preference_page' && is_recipient !== true

/**
 * Two suppressions of an address as one. Of each kind it keeps the one with the most weight: the reason, or else whether it stops
 * transactional messages too, decides. Everything else is that of the stronger one, of equal ones the first; the source of an opt-out from
 * everything never becomes a page of a message to another address, because opting in there would then undo it.
 */
export function addedTo<S extends Stored>(one: S, other: S): S {
  const all = [...allIn(coveringOf(one)), ...allIn(coveringOf(other))].toSorted((a, b) => weightOf(b) - weightOf(a))
  const kept = KINDS.flatMap((kind) => all.find(({ reason }) => kind.includes(reason)) ?? [])
  const [stronger, weaker] = weightOf(other) > weightOf(one) ? [other, one] : [one, other]
  const isProved = weaker.reason === stronger.reason && isFromElsewhere(stronger.source) && !isFromElsewhere(weaker.source)
  const { covers: _, ...source } = isProved ? weaker.source : stronger.source
  const covers = joined(kept.slice(1))
  return { ...stronger, source: { ...source, ...(covers && { covers }) } }
}

/** Suppressions, the strongest first, of which each covers the next one. */
const joined = (given: Covering[]): Covering | undefined =>
  given.reduceRight<Covering | undefined>((covers, one) => ({ ...one, ...(covers && { covers }) }), undefined)

/** Whether two suppressions are the same, with what they cover. */
export function isSame(one: Stored, other: Stored): boolean {
  const [these, those] = [allIn(coveringOf(one)), allIn(coveringOf(other))]
  return (
    isFromElsewhere(one.source) === isFromElsewhere(other.source) &&
    these.length === those.length &&
    these.every((covering, at) => weightOf(covering) === weightOf(those[at] as Covering))
  )
}
