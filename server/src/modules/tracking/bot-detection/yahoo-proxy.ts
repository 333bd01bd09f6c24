import { detector } from './detector.ts'

/** Yahoo and AOL fetch images when an email is opened, and show their own copies. */
export const yahooProxy = detector({
  is: 'proxy',
  matches: ({ kind, userAgent }) => kind === 'open' && userAgent.includes('YahooMailProxy'),
  examples: [{ kind: 'open', userAgent: 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html' }],
})
