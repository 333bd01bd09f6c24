import { machine } from './detector.ts'

/** Barracuda's gateways follow every link of a mail. */
export const barracuda = machine({
  is: 'machine',
  sees: ({ userAgent }) => /barracuda/i.test(userAgent),
  examples: [{ userAgent: 'Barracuda Sentinel (EE)' }],
})
