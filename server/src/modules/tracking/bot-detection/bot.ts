import { isbot } from 'isbot'
import { detector } from './detector.ts'

/** Whatever calls itself by the name of a robot or of a library. */
export const bot = detector({
  is: 'machine',
  isLastResort: true,
  sees: ({ userAgent }) => isbot(userAgent),
  examples: [
    { userAgent: 'python-requests/2.32.3' },
    { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' },
    { userAgent: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' },
  ],
})
