/** MTA-STS (RFC 8461): the record that announces a policy, the policy, and the hosts that it means. Pure. */
import { trimMatching } from './text.ts'
import { dnsName } from './urls.ts'

/** The policy by which a domain asks for TLS. `mx` are patterns for names of hosts. */
export type MtaStsPolicy = { id: string; mode: 'enforce' | 'testing' | 'none'; mx: string[]; maxAgeS: number }

/** A year, the longest age that the standard allows (RFC 8461 §3.2). */
const MAX_AGE_S = 31_557_600
const PATTERNS_MAX = 100
const MODES = ['enforce', 'testing', 'none'] as const

/** The id in the TXT records of `_mta-sts.<domain>`, or null if there is not exactly one announcement (RFC 8461 §3.1). */
export function policyIdOf(texts: readonly string[]): string | null {
  const announcements = texts.filter((text) => /^v=STSv1(?:[ \t;]|$)/.test(text))
  if (announcements.length !== 1) return null
  const fields = (announcements[0] ?? '').split(';').map((field) => field.split('=').map((part) => trimMatching(part, /^[ \t]$/)))
  const id = fields.find(([key]) => key === 'id')?.[1] ?? ''
  return /^[a-zA-Z0-9]{1,32}$/.test(id) ? id : null
}

/** Reads a policy, or returns what is wrong with it. If a field occurs twice, the first one is used (RFC 8461 §3.2). */
export function parsePolicy(text: string, id: string): MtaStsPolicy | { problem: string } {
  const fields = text.split('\n').map((line) => ({
    key: trimMatching(line.slice(0, Math.max(0, line.indexOf(':'))), /^[ \t\r]$/),
    value: trimMatching(line.slice(line.indexOf(':') + 1), /^[ \t\r]$/),
  }))
  const first = (key: string) => fields.find((field) => field.key === key)?.value
  const mode = MODES.find((known) => known === first('mode'))
  const maxAge = first('max_age') ?? ''
  const mx = fields.filter(({ key }) => key === 'mx').map(({ value }) => patternOf(value))
  if (first('version') !== 'STSv1') return { problem: 'The version is not STSv1.' }
  if (!mode) return { problem: 'The mode is not enforce, testing or none.' }
  if (!/^\d{1,10}$/.test(maxAge)) return { problem: 'The max_age is not a number.' }
  if (mx.includes(null) || mx.length > PATTERNS_MAX) return { problem: 'The `mx` patterns of the policy are not host names.' }
  if (mx.length === 0 && mode !== 'none') return { problem: 'There is no mx pattern.' }
  return { id, mode, mx: mx as string[], maxAgeS: Math.min(Number(maxAge), MAX_AGE_S) }
}

function patternOf(text: string): string | null {
  const [wildcard, rest] = text.startsWith('*.') ? ['*.', text.slice(2)] : ['', text]
  const name = dnsName(rest)
  return name === null ? null : wildcard + name
}

/** Whether one of the patterns matches the host. `*` matches exactly one label (RFC 8461 §4.1). */
export function matchesMx(patterns: readonly string[], host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  const parent = name.slice(name.indexOf('.'))
  return patterns.some((pattern) => pattern === name || (pattern.startsWith('*.') && name.includes('.') && pattern.slice(1) === parent))
}
