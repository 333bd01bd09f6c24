import { detector } from './detector.ts'

/** Proofpoint's URL Defense. */
export const proofpoint = detector({
  is: 'machine',
  sees: ({ userAgent }) => /proofpoint|urldefense/i.test(userAgent),
  examples: [{ userAgent: 'Mozilla/5.0 (compatible; Proofpoint URL Defense)' }],
})
