import { detector } from './detector.ts'

const SOONEST_MS = 1000

/** Nobody receives a message, reads it and clicks within a second of its making. */
export const tooSoon = detector({
  is: 'machine',
  sees: ({ kind, sinceSentMs }) => kind === 'click' && sinceSentMs >= 0 && sinceSentMs < SOONEST_MS,
  examples: [{ kind: 'click', sinceSentMs: 999 }],
})
