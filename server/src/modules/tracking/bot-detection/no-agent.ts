import { detector } from './detector.ts'

/** Every program that people use gives its name. */
export const noAgent = detector({
  is: 'machine',
  sees: ({ userAgent }) => userAgent.trim() === '',
  examples: [
    { kind: 'open', userAgent: '' },
    { kind: 'click', userAgent: ' ' },
  ],
})
