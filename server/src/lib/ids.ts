/** Each kind of id has its own type, so passing the wrong kind does not compile. All are positive safe integers. */

declare const kind: unique symbol
type Id<K extends string> = number & { readonly [kind]: K }

export type OrganisationId = Id<'organisation'>
export type ProjectId = Id<'project'>
export type KeyId = Id<'key'>
export type MemberId = Id<'member'>
export type SessionId = Id<'session'>
export type PasskeyId = Id<'passkey'>
export type UserId = Id<'user'>
export type CampaignId = Id<'campaign'>
export type JourneyId = Id<'journey'>
export type SubscriptionId = Id<'subscription'>
export type ProviderId = Id<'provider'>
export type EndpointId = Id<'endpoint'>
export type MessageId = Id<'message'>
export type ListId = Id<'list'>
export type ListVersionId = Id<'list version'>
export type TrackerId = Id<'tracker'>
export type ImportId = Id<'import'>
export type DomainId = Id<'domain'>
export type LinkId = Id<'link'>
export type ConsentId = Id<'consent'>
export type PreflightId = Id<'preflight'>
export type BacktestId = Id<'backtest'>
export type ErasureId = Id<'erasure'>

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A ULID (26 characters, sorts by time) from an instant and 10 random bytes. */
export function ulid(now: Date, random: Uint8Array): string {
  let time = now.getTime()
  let head = ''
  for (let i = 0; i < 10; i++) {
    head = CROCKFORD[time % 32] + head
    time = Math.floor(time / 32)
  }
  return head + fiveBytes(random, 0) + fiveBytes(random, 5)
}

/** 40 bits as 8 characters. */
function fiveBytes(bytes: Uint8Array, from: number): string {
  let bits = 0
  for (let at = from; at < from + 5; at++) bits = bits * 256 + (bytes[at] ?? 0)
  let text = ''
  for (let i = 0; i < 8; i++) {
    text = CROCKFORD[bits % 32] + text
    bits = Math.floor(bits / 32)
  }
  return text
}
