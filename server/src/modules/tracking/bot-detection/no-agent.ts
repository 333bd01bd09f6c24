import { machine } from './detector.ts'

/** Every program that people use gives its name. */
export const noAgent = machine({
  is: 'machine',
  sees: ({ userAgent }) => userAgent.trim() === '',
  examples: [
    { kind: 'open', userAgent: '' },
    { kind: 'click', userAgent: ' ' },
  ],
})
