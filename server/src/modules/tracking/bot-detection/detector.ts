import type { IncomingHttpHeaders } from 'node:http'

/** A picture that is fetched or a link that is followed, as far as it can be judged by itself. */
export type Visit = {
  kind: 'open' | 'click'
  /** Empty when there is none. */
  userAgent: string
  headers: IncomingHttpHeaders
  /** Since the message was made; less than nothing when clocks differ. */
  sinceSentMs: number
}

/** A way in which visits are recognised. */
export type Detector = {
  /** `proxy`: a person looks, and somebody else fetches for them. `person` protects programs of people from being taken for machines. */
  is: 'machine' | 'proxy' | 'person'
  /** Asked only when no other fits. */
  isLastResort?: true
  sees(visit: Visit): boolean
  /** Visits that it recognises, for the tests; what is left out is that of a browser. */
  examples: Partial<Visit>[]
}

/** Declares a way to recognise visits. */
export const detector = (definition: Detector): Detector => definition
