import { detector } from './detector.ts'

/** Barracuda’s gateways follow every link of an email. */
export const barracuda = detector({
  is: 'bot',
  matches: ({ userAgent }) => /barracuda/i.test(userAgent),
  examples: [{ userAgent: 'Barracuda Sentinel (EE)' }],
})
