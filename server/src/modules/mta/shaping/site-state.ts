/**
 * The state of delivery to one site: open, slowed, suspended, or probing with one email after a suspension. The number of connections is
 * halved when the site is overloaded and grows while it accepts emails. Pure: every function returns a new state
 * (D-MTA-30).
 */
import { HOUR_MS, MINUTE_MS } from '../../../lib/times.ts'
import { narrowed, type SiteLimits, type SomeLimits } from './limits.ts'
import { takeFrom } from './rate.ts'
import { type RuledReply, ruleFor } from './reply-rules.ts'

export type SiteState = {
  is: 'open' | 'slowed' | 'suspended' | 'probing'
  /** The end of `slowed` or `suspended`; 0 otherwise. */
  until: number
  /** What it is slowed to. */
  slowedTo: SomeLimits
  /** Why it is slowed or suspended: the name of a rule, or `unreachable`. */
  because: string | null
  /** How many connections it may have after it was busy, at least 1; null for as many as the limits of now allow. */
  connections: number | null
  /** Deliveries since `connections` changed. */
  successes: number
  /** Connections in a row that failed. */
  failures: number
  /** Suspensions in a row without a delivery, each of which is longer. */
  suspensions: number
  /** The times of replies within an hour, by the rule that needs several. */
  replies: Readonly<Record<string, readonly number[]>>
  /** See `takeFrom`. */
  mailsFilledAt: number
  connectionsFilledAt: number
}

/** What an attempt says of the site. `busy` is 421, or a connection that was refused; `unreachable`: there was no session. */
export type SiteEvent = { is: 'delivered' } | ({ is: 'replied'; code: number } & RuledReply) | { is: 'unreachable'; isRefused: boolean }

export const OPEN_SITE: SiteState = {
  is: 'open',
  until: 0,
  slowedTo: {},
  because: null,
  connections: null,
  successes: 0,
  failures: 0,
  suspensions: 0,
  replies: {},
  mailsFilledAt: 0,
  connectionsFilledAt: 0,
}

/** After so many deliveries a site gets another connection. */
const SUCCESSES_TO_GROW = 100
/** After so many connections that failed in a row a site is suspended. */
const FAILURES_TO_SUSPEND = 10
const SUSPENDED_FIRST_MS = 5 * MINUTE_MS
const SUSPENDED_MAX_MS = HOUR_MS
/** The reply of a server that closes the connection because it has too many. */
export const TOO_BUSY = 421

/** The state at a time: slowing ends, and a suspended site is probed. */
export function siteAt(state: SiteState, nowMs: number): SiteState {
  if (nowMs < state.until) return state
  if (state.is === 'slowed') return { ...state, is: 'open', until: 0, slowedTo: {}, because: null }
  if (state.is === 'suspended') return { ...state, is: 'probing', until: 0 }
  return state
}

/** The state after something was learned about the site. `limits` are those of the site. */
export function siteAfter(before: SiteState, siteKey: string, event: SiteEvent, limits: SiteLimits, nowMs: number): SiteState {
  const state = siteAt(before, nowMs)
  switch (event.is) {
    case 'delivered':
      return afterDelivery(state, limits)
    case 'replied':
      return afterReply(state, siteKey, event, limits, nowMs)
    case 'unreachable':
      return afterFailure(event.isRefused ? halved(state, limits) : state, nowMs)
    default:
      return event satisfies never
  }
}

function afterDelivery(state: SiteState, limits: SiteLimits): SiteState {
  const well: SiteState = { ...state, failures: 0, suspensions: 0, ...(state.is === 'probing' && { is: 'open', because: null }) }
  if (well.connections === null) return well
  if (well.successes + 1 < SUCCESSES_TO_GROW) return { ...well, successes: well.successes + 1 }
  const connections = well.connections + 1
  return { ...well, connections: connections < limits.connections ? connections : null, successes: 0 }
}

/** A reply ends a row of failures: there was a session. What it says can slow or suspend the site. */
function afterReply(
  before: SiteState,
  siteKey: string,
  { code, ...reply }: { code: number } & RuledReply,
  limits: SiteLimits,
  nowMs: number,
): SiteState {
  const state = { ...(code === TOO_BUSY ? halved(before, limits) : before), failures: 0 }
  const replied: SiteState = state.is === 'probing' && code !== TOO_BUSY ? { ...state, is: 'open', because: null } : state
  const rule = ruleFor(siteKey, reply)
  if (!rule) return replied
  const { name, repliesInAnHour = 1, does } = rule
  const recent = [...(replied.replies[name] ?? []).filter((at) => at > nowMs - HOUR_MS), nowMs].slice(-repliesInAnHour)
  const counted = { ...replied, replies: { ...replied.replies, [name]: recent } }
  if (recent.length < repliesInAnHour) return counted
  const until = nowMs + does.forMs
  if (does.is === 'suspend') return { ...counted, is: 'suspended', until: Math.max(until, counted.until), because: name }
  // A suspension is not shortened to a slower rate.
  if (counted.is === 'suspended') return counted
  return { ...counted, is: 'slowed', until, slowedTo: does.to, because: name }
}

function afterFailure(state: SiteState, nowMs: number): SiteState {
  const failures = state.failures + 1
  if (state.is === 'suspended') return { ...state, failures }
  if (state.is !== 'probing' && failures < FAILURES_TO_SUSPEND) return { ...state, failures }
  const forMs = Math.min(SUSPENDED_MAX_MS, SUSPENDED_FIRST_MS * 2 ** state.suspensions)
  return {
    ...state,
    is: 'suspended',
    until: nowMs + forMs,
    because: 'unreachable',
    failures,
    suspensions: state.suspensions + 1,
    slowedTo: {},
  }
}

const connectionsOf = ({ connections }: Pick<SiteState, 'connections'>, limits: SiteLimits): number =>
  Math.min(connections ?? limits.connections, limits.connections)

const halved = (state: SiteState, limits: SiteLimits): SiteState => ({
  ...state,
  connections: Math.max(1, Math.floor(connectionsOf(state, limits) / 2)),
  successes: 0,
})

/** The limits of a site in its current state. Call `siteAt` first. */
export function limitsNow(state: SiteState, limits: SiteLimits): SiteLimits {
  if (state.is === 'probing') return narrowed(limits, { connections: 1 })
  const own = { ...limits, connections: connectionsOf(state, limits) }
  return state.is === 'slowed' ? narrowed(own, state.slowedTo) : own
}

/** So many emails may be under way for each connection: the envelope of one overlaps with the content of another. */
const MAILS_PER_CONNECTION_AT_ONCE = 2
/** This part of a second’s emails may start at the same instant. */
const BURST_SECONDS = 0.2

export type Admission = {
  admitted: number
  /** If not all were admitted: which limit, and when to ask again. Null for the number of connections, which ends with a delivery. */
  limit?: 'connections' | 'rate' | 'suspended'
  nextAt: number | null
}

/** How many of `wanted` emails may start now, while `inFlight` are under way. */
export function admit(
  before: SiteState,
  limits: SiteLimits,
  { wanted, inFlight }: { wanted: number; inFlight: number },
  nowMs: number,
): { state: SiteState; admission: Admission } {
  const state = siteAt(before, nowMs)
  if (state.is === 'suspended') return { state, admission: { admitted: 0, limit: 'suspended', nextAt: state.until } }
  const now = limitsNow(state, limits)
  const places = state.is === 'probing' ? 1 : now.connections * MAILS_PER_CONNECTION_AT_ONCE
  const free = Math.max(0, Math.min(wanted, places - inFlight))
  const rate = { perSecond: now.mails_per_second, burst: Math.max(1, Math.floor(now.mails_per_second * BURST_SECONDS)) }
  const { granted, filledAt, nextAt } = takeFrom(rate, state.mailsFilledAt, free, nowMs)
  const admission = { admitted: granted, nextAt: null, ...limitedBy(wanted, free, granted, nextAt) }
  return { state: { ...state, mailsFilledAt: filledAt }, admission }
}

function limitedBy(wanted: number, free: number, granted: number, nextAt: number): Partial<Admission> {
  if (granted < free) return { limit: 'rate', nextAt }
  return free < wanted ? { limit: 'connections' } : {}
}

/** Whether a new connection may be opened now. */
export function admitConnection(
  before: SiteState,
  limits: SiteLimits,
  nowMs: number,
): { state: SiteState; isAdmitted: boolean; nextAt: number } {
  const state = siteAt(before, nowMs)
  const { connections, connections_per_minute } = limitsNow(state, limits)
  const rate = { perSecond: connections_per_minute / 60, burst: Math.max(1, Math.min(connections, Math.floor(connections_per_minute))) }
  const { granted, filledAt, nextAt } = takeFrom(rate, state.connectionsFilledAt, 1, nowMs)
  return { state: { ...state, connectionsFilledAt: filledAt }, isAdmitted: granted === 1, nextAt }
}
