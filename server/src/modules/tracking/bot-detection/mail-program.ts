import { detector } from './detector.ts'

const PROGRAMS = /outlook|ms-office|msoffice|thunderbird|airmail|postbox|em client|yahoomobilemail|samsung email/i

/** Email clients, some of which look like bots by their user agent. */
export const mailProgram = detector({
  is: 'user',
  matches: ({ userAgent }) => PROGRAMS.test(userAgent),
  examples: [
    { kind: 'open', userAgent: 'Mozilla/4.0 (compatible; ms-office; MSOffice 16)' },
    { kind: 'open', userAgent: 'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.12026; Pro)' },
    { kind: 'open', userAgent: 'Outlook-iOS/2.0' },
    { kind: 'open', userAgent: 'Airmail 5' },
    { userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.5.0' },
  ],
})
