import { detector } from './detector.ts'

/** Apple’s Mail Privacy Protection fetches the images of every email, even if it is not opened. This is its whole user agent. */
export const applePrivacy = detector({
  is: 'bot',
  matches: ({ kind, userAgent }) => kind === 'open' && userAgent === 'Mozilla/5.0',
  examples: [{ kind: 'open', userAgent: 'Mozilla/5.0' }],
})
