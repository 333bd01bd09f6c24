/** Which mail hosts of a site fail. Pure: every function returns new values. */
import { MINUTE_MS } from '../../../lib/times.ts'

/** Connections in a row that failed; the host is not tried before `skippedUntil`. */
export type HostState = { failures: number; skippedUntil: number }

export type Hosts = Readonly<Record<string, HostState>>

/** After so many connections that failed in a row a host is skipped. */
const FAILURES_TO_SKIP = 100
const SKIPPED_MS = 30 * MINUTE_MS
const HOSTS_MAX = 50

export type HostEvent = 'connected' | 'failed'

/** The hosts after something was learned about one. The oldest are dropped if there are many. */
export function hostsAfter(hosts: Hosts, host: string, event: HostEvent, nowMs: number): Hosts {
  if (event === 'connected' && !hosts[host]) return hosts
  const { [host]: before, ...others } = hosts
  if (event === 'connected') return others
  const failures = (before?.failures ?? 0) + 1
  const skippedUntil = failures >= FAILURES_TO_SKIP ? nowMs + SKIPPED_MS : 0
  return { ...Object.fromEntries(Object.entries(others).slice(1 - HOSTS_MAX)), [host]: { failures, skippedUntil } }
}

/** The hosts to try, in order: those that are not skipped, or all if there is no other. */
export function hostsToTry(hosts: Hosts, inOrder: readonly string[], nowMs: number): readonly string[] {
  const usable = inOrder.filter((host) => (hosts[host]?.skippedUntil ?? 0) <= nowMs)
  return usable.length > 0 ? usable : inOrder
}
