import { detector } from './detector.ts'

/** Gmail fetches images when an email is opened, and shows its own copies. */
export const gmailProxy = detector({
  is: 'proxy',
  matches: ({ kind, userAgent }) => kind === 'open' && userAgent.includes('GoogleImageProxy'),
  examples: [{ kind: 'open', userAgent: 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)' }],
})
