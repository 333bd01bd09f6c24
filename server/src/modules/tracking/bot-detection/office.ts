import { detector } from './detector.ts'

/** Office asks for a link that was clicked to see whether it is a document; after that the browser follows it, and is counted. */
export const office = detector({
  is: 'machine',
  sees: ({ kind, userAgent }) => kind === 'click' && /ms-office|msoffice|^microsoft office/i.test(userAgent),
  examples: [
    { kind: 'click', userAgent: 'Mozilla/4.0 (compatible; ms-office; MSOffice rmj)' },
    { kind: 'click', userAgent: 'Microsoft Office Existence Discovery' },
  ],
})
