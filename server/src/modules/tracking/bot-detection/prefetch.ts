import { detector } from './detector.ts'

const NAMES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']

/** Browsers that load ahead what may be clicked next say so. */
export const prefetch = detector({
  is: 'machine',
  sees: ({ headers }) => NAMES.some((name) => /prefetch|prerender|preview/i.test(String(headers[name] ?? ''))),
  examples: [
    { headers: { 'sec-purpose': 'prefetch;prerender' } },
    { headers: { purpose: 'prefetch' } },
    { headers: { 'x-purpose': 'preview' } },
    { headers: { 'x-moz': 'prefetch' } },
  ],
})
