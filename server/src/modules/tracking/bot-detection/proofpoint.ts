import { detector } from './detector.ts'

/** Proofpoint URL Defense. */
export const proofpoint = detector({
  is: 'bot',
  matches: ({ userAgent }) => /proofpoint|urldefense/i.test(userAgent),
  examples: [{ userAgent: 'Mozilla/5.0 (compatible; Proofpoint URL Defense)' }],
})
