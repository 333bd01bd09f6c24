import { detector } from './detector.ts'

/** Apple's Mail Privacy Protection fetches the pictures of every mail, looked at or not, and says no more of itself than this. */
export const applePrivacy = detector({
  is: 'machine',
  sees: ({ kind, userAgent }) => kind === 'open' && userAgent === 'Mozilla/5.0',
  examples: [{ kind: 'open', userAgent: 'Mozilla/5.0' }],
})
