/** What a suppressed address keeps of several suppressions. Pure. */
import { SUPPRESSION_REASONS, type SuppressionReason } from './schema.ts'

/** What an opt-out from everything came from, as far as it decides who can take it back. Unknown below an erasure. */
export type Origin = { by?: unknown; message_id?: unknown; is_recipient?: unknown }

/** A suppression, with the weaker one that it covers. Only opt-outs have an origin. */
type Covering = { reason: SuppressionReason; stops_transactional: boolean; covers?: Covering } & Origin

/** A suppression as it is stored, with what it covers in its source. */
type Stored = { reason: SuppressionReason; stops_transactional: boolean; source: Record<string, unknown> }

const originOf = ({ by, message_id, is_recipient }: Origin): Origin => ({
  ...(by !== undefined && { by }),
  ...(message_id !== undefined && { message_id }),
  ...(is_recipient !== undefined && { is_recipient }),
})

function coveringOf({ reason, stops_transactional, source }: Stored): Covering {
  const covers = source.covers as Covering | undefined
  return { reason, stops_transactional, ...(reason === 'unsubscribed_all' && originOf(source)), ...(covers && { covers }) }
}

/** A suppression and those that it covers, each by itself. */
const allIn = ({ covers, ...one }: Covering): Covering[] => [one, ...(covers ? allIn(covers) : [])]

/** The origin of the opt-out from everything of the owner of the address, also where another suppression covers that. */
export function originOfOptOut(stored: Stored): Origin | undefined {
  const optOut = allIn(coveringOf(stored)).find(({ reason }) => reason === 'unsubscribed_all')
  return optOut && originOf(optOut)
}

const weightOf = ({ reason, stops_transactional }: Pick<Covering, 'reason' | 'stops_transactional'>): number =>
  2 * SUPPRESSION_REASONS.indexOf(reason) + (stops_transactional ? 1 : 0)

/** An erasure is about a user, an opt-out is the owner’s own, and the others are about the address. Each kind covers those after it. */
const KINDS: readonly (readonly SuppressionReason[])[] = [['erased'], ['complaint', 'hard_bounce', 'manual'], ['unsubscribed_all']]

/**
 * Whether an opt-out from everything was made on a page of a message to another address of the user. That proves less than one made with the
 * address itself, such as STOP or the page of a message to it (`is_recipient`), or over the API.
 */
const isFromElsewhere = ({ by, is_recipient }: Origin): boolean => by === 'preference_page' && is_recipient !== true

/**
 * Two suppressions of an address as one. Of each kind it keeps the one with the most weight: the reason, or else whether it stops
 * transactional messages too, decides. Everything else is that of the stronger one, of equal ones the first; but the origin of an opt-out from
 * everything never becomes a page of a message to another address, because opting in there would then undo it.
 */
export function addedTo<S extends Stored>(one: S, other: S): S {
  const [stronger, weaker] = weightOf(other) > weightOf(one) ? [other, one] : [one, other]
  const all = [...allIn(coveringOf(stronger)), ...allIn(coveringOf(weaker))].toSorted((a, b) => weightOf(b) - weightOf(a))
  const optOuts = all.filter(({ reason }) => reason === 'unsubscribed_all')
  const proved = optOuts.find((optOut) => !isFromElsewhere(optOut)) ?? optOuts[0]
  const kept = KINDS.flatMap((kind) => all.find(({ reason }) => kind.includes(reason)) ?? [])
  const covers = joined(
    kept.slice(1).map(({ reason, stops_transactional }) => ({
      reason,
      stops_transactional,
      ...(reason === 'unsubscribed_all' && stronger.reason !== 'erased' && proved && originOf(proved)),
    })),
  )
  const isProvedByWeaker = stronger.reason === weaker.reason && isFromElsewhere(stronger.source) && !isFromElsewhere(weaker.source)
  const { covers: _, ...source } = isProvedByWeaker ? weaker.source : stronger.source
  return { ...stronger, source: { ...source, ...(covers && { covers }) } }
}

/** Suppressions, the strongest first, of which each covers the next one. */
const joined = (given: Covering[]): Covering | undefined =>
  given.reduceRight<Covering | undefined>((covers, one) => ({ ...one, ...(covers && { covers }) }), undefined)

/** Whether two suppressions are the same, with what they cover. */
export function isSame(one: Stored, other: Stored): boolean {
  const [these, those] = [allIn(coveringOf(one)), allIn(coveringOf(other))]
  const isSameOne = (these: Covering, those: Covering) =>
    weightOf(these) === weightOf(those) && isFromElsewhere(these) === isFromElsewhere(those)
  return these.length === those.length && these.every((covering, at) => isSameOne(covering, those[at] as Covering))
}
