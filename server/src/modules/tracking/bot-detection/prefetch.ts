import { detector } from './detector.ts'

const NAMES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']

/** Browsers that load a link in advance send one of these headers. */
export const prefetch = detector({
  is: 'bot',
  matches: ({ headers }) => NAMES.some((name) => /prefetch|prerender|preview/i.test(String(headers[name] ?? ''))),
  examples: [
    { headers: { 'sec-purpose': 'prefetch;prerender' } },
    { headers: { purpose: 'prefetch' } },
    { headers: { 'x-purpose': 'preview' } },
    { headers: { 'x-moz': 'prefetch' } },
  ],
})
