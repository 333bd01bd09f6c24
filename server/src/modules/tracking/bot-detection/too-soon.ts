import { detector } from './detector.ts'

const SOONEST_MS = 1000

/** A user cannot receive a message, read it and click within a second. */
export const tooSoon = detector({
  is: 'bot',
  matches: ({ kind, sinceSentMs }) => kind === 'click' && sinceSentMs >= 0 && sinceSentMs < SOONEST_MS,
  examples: [{ kind: 'click', sinceSentMs: 999 }],
})
