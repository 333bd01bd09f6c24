import { machine } from './detector.ts'

/** Proofpoint's URL Defense. */
export const proofpoint = machine({
  is: 'machine',
  sees: ({ userAgent }) => /proofpoint|urldefense/i.test(userAgent),
  examples: [{ userAgent: 'Mozilla/5.0 (compatible; Proofpoint URL Defense)' }],
})
