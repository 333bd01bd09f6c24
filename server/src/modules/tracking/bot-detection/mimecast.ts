import { detector } from './detector.ts'

/** Mimecast URL Protect. */
export const mimecast = detector({
  is: 'bot',
  matches: ({ userAgent }) => /mimecast/i.test(userAgent),
  examples: [{ userAgent: 'Mimecast URL Protect/1.0' }],
})
