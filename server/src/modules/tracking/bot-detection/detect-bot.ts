import type { Detector, Visit } from './detector.ts'
import * as machines from './index.ts'

export type Detected = { isMachine: boolean; isProxied: boolean; reason: string | null }

const all = Object.entries(machines) as [string, Detector][]
const kinds = [
  ...all.filter(([, { is, isLastResort }]) => is === 'machine' && !isLastResort),
  ...all.filter(([, { is }]) => is !== 'machine'),
  ...all.filter(([, { isLastResort }]) => isLastResort),
]

/** Who it was, judged by the visit alone: what is known to be a machine, then what is known to be of a person, then what looks odd. */
export function detectBot(visit: Visit): Detected {
  const [reason, found] = kinds.find(([, { sees }]) => sees(visit)) ?? []
  return { isMachine: found?.is === 'machine', isProxied: found?.is === 'proxy', reason: found?.is === 'person' ? null : (reason ?? null) }
}
