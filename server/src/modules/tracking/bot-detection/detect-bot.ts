import type { Detector, TrackedRequest } from './detector.ts'
import * as detectors from './index.ts'

export type Detected = { isBot: boolean; isProxied: boolean; reason: string | null }

const all = Object.entries(detectors) as [string, Detector][]
const kinds = [
  ...all.filter(([, { is, isLastResort }]) => is === 'bot' && !isLastResort),
  ...all.filter(([, { is }]) => is !== 'bot'),
  ...all.filter(([, { isLastResort }]) => isLastResort),
]

/** Detects who opened or clicked, from the request alone. Known bots are checked first, then known user agents of users, then general patterns. */
export function detectBot(request: TrackedRequest): Detected {
  const [reason, found] = kinds.find(([, { matches }]) => matches(request)) ?? []
  return { isBot: found?.is === 'bot', isProxied: found?.is === 'proxy', reason: found?.is === 'user' ? null : (reason ?? null) }
}
