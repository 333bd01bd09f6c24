import { detector } from './detector.ts'

/** Microsoft looks at the links of mails before people do. Mostly it does so with the name of a browser; `burst` finds those. */
export const safeLinks = detector({
  is: 'machine',
  sees: ({ userAgent }) => /safelinks|bingpreview|microsoft.?defender/i.test(userAgent),
  examples: [{ userAgent: 'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b' }],
})
