import { detector } from './detector.ts'

/** Mimecast's URL Protect. */
export const mimecast = detector({
  is: 'machine',
  sees: ({ userAgent }) => /mimecast/i.test(userAgent),
  examples: [{ userAgent: 'Mimecast URL Protect/1.0' }],
})
