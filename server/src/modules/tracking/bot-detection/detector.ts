import type { RequestHeaders } from '../../../infra/http/public-page.ts'

/** A request for a tracking pixel or a tracked link. */
export type TrackedRequest = {
  kind: 'open' | 'click'
  /** Empty if there is none. */
  userAgent: string
  headers: RequestHeaders
  /** Milliseconds since the message was rendered; negative if clocks differ. */
  sinceSentMs: number
}

/** Recognises a kind of client. */
export type Detector = {
  /** `proxy`: the email service fetches the image when a user opens the email. `user`: a client that would otherwise be detected as a bot. */
  is: 'bot' | 'proxy' | 'user'
  /** Used only if no other detector matches. */
  isLastResort?: true
  matches(request: TrackedRequest): boolean
  /** Requests that it matches, for the tests. Missing members are those of a browser. */
  examples: Partial<TrackedRequest>[]
}

/** Declares a detector. */
export const detector = (definition: Detector): Detector => definition
