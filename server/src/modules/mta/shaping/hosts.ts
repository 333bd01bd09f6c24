/** What is known of the mail hosts of a site: which fail, and which have broken TLS. Pure: every function returns new values. */
import { DAY_MS, MINUTE_MS } from '../../../lib/times.ts'

export type HostState = {
  failures: number /** Not tried before. */
  skippedUntil: number /** TLS is not tried before. */
  plainUntil: number
}

export type Hosts = Readonly<Record<string, HostState>>

const UNKNOWN: HostState = { failures: 0, skippedUntil: 0, plainUntil: 0 }

/** After so many connections that failed in a row a host is skipped. */
const FAILURES_TO_SKIP = 100
const SKIPPED_MS = 30 * MINUTE_MS
/** A handshake that failed is not repeated before. */
const BROKEN_TLS_MS = 3 * DAY_MS
const HOSTS_MAX = 50

export type HostEvent = 'connected' | 'failed' | 'tls failed'

/** The hosts after something was learned of one. The oldest are dropped if there are many. */
export function hostsAfter(hosts: Hosts, host: string, event: HostEvent, nowMs: number): Hosts {
  const { [host]: before = UNKNOWN, ...others } = hosts
  const after = afterEvent(before, event, nowMs)
  const isKnown = after.failures > 0 || after.plainUntil > nowMs
  return isKnown ? { ...Object.fromEntries(Object.entries(others).slice(1 - HOSTS_MAX)), [host]: after } : others
}

function afterEvent(before: HostState, event: HostEvent, nowMs: number): HostState {
  switch (event) {
    case 'connected':
      return { ...before, failures: 0, skippedUntil: 0 }
    case 'tls failed':
      return { ...before, plainUntil: nowMs + BROKEN_TLS_MS }
    case 'failed': {
      const failures = before.failures + 1
      return { ...before, failures, ...(failures >= FAILURES_TO_SKIP && { skippedUntil: nowMs + SKIPPED_MS }) }
    }
    default:
      return event satisfies never
  }
}

/** The hosts to try, in order: those that are not skipped, or all if there is no other. */
export function hostsToTry(hosts: Hosts, inOrder: readonly string[], nowMs: number): readonly string[] {
  const usable = inOrder.filter((host) => (hosts[host]?.skippedUntil ?? 0) <= nowMs)
  return usable.length > 0 ? usable : inOrder
}

/** Whether TLS with a host is known to fail. Only opportunistic TLS may be left out. */
export const hasBrokenTls = (hosts: Hosts, host: string, nowMs: number): boolean => (hosts[host]?.plainUntil ?? 0) > nowMs
