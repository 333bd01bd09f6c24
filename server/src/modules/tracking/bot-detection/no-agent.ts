import { detector } from './detector.ts'

/** Clients of users always send a user agent. */
export const noAgent = detector({
  is: 'bot',
  matches: ({ userAgent }) => userAgent.trim() === '',
  examples: [
    { kind: 'open', userAgent: '' },
    { kind: 'click', userAgent: ' ' },
  ],
})
