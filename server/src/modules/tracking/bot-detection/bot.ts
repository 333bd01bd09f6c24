import { isbot } from 'isbot'
import { detector } from './detector.ts'

/** User agents of known bots and HTTP libraries. */
export const bot = detector({
  is: 'bot',
  isLastResort: true,
  matches: ({ userAgent }) => isbot(userAgent),
  examples: [
    { userAgent: 'python-requests/2.32.3' },
    { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' },
    { userAgent: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' },
  ],
})
