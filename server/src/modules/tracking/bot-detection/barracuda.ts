import { detector } from './detector.ts'

/** Barracuda's gateways follow every link of a mail. */
export const barracuda = detector({
  is: 'machine',
  sees: ({ userAgent }) => /barracuda/i.test(userAgent),
  examples: [{ userAgent: 'Barracuda Sentinel (EE)' }],
})
