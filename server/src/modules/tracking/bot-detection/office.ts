import { detector } from './detector.ts'

/** When a user clicks, Office first checks if the link is a document. The request of the browser that follows is counted. */
export const office = detector({
  is: 'bot',
  matches: ({ kind, userAgent }) => kind === 'click' && /ms-office|msoffice|^microsoft office/i.test(userAgent),
  examples: [
    { kind: 'click', userAgent: 'Mozilla/4.0 (compatible; ms-office; MSOffice rmj)' },
    { kind: 'click', userAgent: 'Microsoft Office Existence Discovery' },
  ],
})
