import { detector } from './detector.ts'

/** Microsoft checks the links of emails. It usually has the user agent of a browser; those requests are detected as a burst. */
export const safeLinks = detector({
  is: 'bot',
  matches: ({ userAgent }) => /safelinks|bingpreview|microsoft.?defender/i.test(userAgent),
  examples: [{ userAgent: 'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b' }],
})
