import { describe, expect, test } from 'vitest'
import { readReport } from './read-report.ts'

const PATH = `b.1-2-0.${'a'.repeat(27)}`

const read = (lines: string[], end = '\r\n') => readReport(Buffer.from(lines.join(end)))

const report = (type: string, part: string[], returned: string[] = [], partType = `message/${type}`) => [
  'From: MAILER-DAEMON@mx.example.org',
  `To: ${PATH.toUpperCase()}@bounces.example.com`,
  'Subject: Report',
  // Postfix writes this of its bounces too.
  'Auto-Submitted: auto-replied',
  `Content-Type: multipart/report; report-type=${type}; boundary="==B"`,
  '',
  '--==B',
  'Content-Type: text/plain',
  '',
  'This is the mail system.',
  '--==B',
  `Content-Type: ${partType}`,
  '',
  ...part,
  ...(returned.length > 0 ? ['--==B', 'Content-Type: message/rfc822', '', ...returned] : []),
  '--==B--',
  '',
]

const STATUS = [
  'Reporting-MTA: dns; mx.example.org',
  'Original-Envelope-Id: QQ1',
  '',
  'Final-Recipient: rfc822; Kim@example.org',
  'Original-Recipient: rfc822;kim@example.com',
  'Action: failed',
  'Status: 5.1.1',
  'Remote-MTA: dns; mx.example.org',
  'Diagnostic-Code: smtp; 550 5.1.1 <kim@example.org>: No such',
  '    user here',
  '',
]

const failed = {
  action: 'failed',
  original: 'kim@example.com',
  final: 'kim@example.org',
  status: '5.1.1',
  diagnostic: '550 5.1.1 <kim@example.org>: No such user here',
}

describe('a delivery status notification', () => {
  test.each(['\r\n', '\n'])('is read, with lines that end with %j', async (end) => {
    const returned = ['Return-Path: <x>', 'Message-ID: <m-1@example.com>', 'Subject: Hello', '', 'Message-ID: <in-body@example.com>']
    expect(await read(report('delivery-status', STATUS, returned), end)).toEqual({
      is: 'delivery',
      deliveries: [failed],
      paths: [PATH],
      messageIds: ['<m-1@example.com>'],
    })
  })

  test('may be internationalised', async () => {
    const lines = report('delivery-status', STATUS, [], 'message/global-delivery-status')
    expect(await read(lines)).toMatchObject({ is: 'delivery', deliveries: [failed] })
  })

  test('may report several recipients, and delays', async () => {
    const blocks = [
      ...['Reporting-MTA: dns; mx', ''],
      ...[
        'FINAL-RECIPIENT: rfc822; a@example.org',
        'ACTION: Delayed',
        'STATUS: 4.4.1',
        'Will-Retry-Until: Fri, 20 Nov 2026 10:00:00 +0000',
        '',
      ],
      ...['Final-Recipient: rfc822; b@example.org', 'Action: delivered (to mailbox)', 'Status: 2.1.5', ''],
      ...['Final-Recipient: rfc822; c@example.org', 'Status: 5.2.2 (mailbox full)', ''],
    ]
    const answer = await read(report('delivery-status', blocks))
    expect(answer.is === 'delivery' && answer.deliveries.map(({ action, final, status }) => [action, final, status])).toEqual([
      ['delayed', 'a@example.org', '4.4.1'],
      ['delivered', 'b@example.org', '2.1.5'],
      ['failed', 'c@example.org', '5.2.2'],
    ])
  })

  test('in one block is read too', async () => {
    const block = ['Reporting-MTA: dns; mx', 'Final-Recipient: rfc822; a@example.org', 'Action: failed', 'Status: 5.0.0', '']
    expect(await read(report('delivery-status', block))).toMatchObject({
      deliveries: [{ action: 'failed', original: null, final: 'a@example.org' }],
    })
  })
})

const text = (headers: string[], ...body: string[]) => [...headers, 'Content-Type: text/plain; charset=utf-8', '', ...body, '']
const daemon = ['From: Mail Delivery System <MAILER-DAEMON@mx.example.org>', 'Subject: failure notice']

describe('a bounce in words', () => {
  test.each([
    [
      'of qmail',
      text(
        daemon,
        'Hi. This is the qmail-send program at mx.example.org.',
        "I'm afraid I wasn't able to deliver your message to the following addresses.",
        '',
        '<kim@example.org>:',
        'Sorry, no mailbox here by that name. (#5.1.1)',
        '',
        '--- Below this line is a copy of the message.',
        '',
        'Subject: 421 4.7.0 is not the reason',
      ),
      { action: 'failed', status: '5.1.1', diagnostic: 'Sorry, no mailbox here by that name. (#5.1.1)' },
    ],
    [
      'of Exim',
      text(
        [...daemon, 'X-Failed-Recipients: kim@example.org', 'Auto-Submitted: auto-replied'],
        'This message was created automatically by mail delivery software.',
        '',
        'A message that you sent could not be delivered to one or more of its',
        'recipients. This is a permanent error. The following address(es) failed:',
        '',
        '  kim@example.org',
        '    Unrouteable address',
      ),
      { action: 'failed', status: null, diagnostic: 'Unrouteable address' },
    ],
    [
      'of Exim that warns',
      text(
        daemon,
        'A message that you sent has not yet been delivered to one or more of its',
        'recipients after more than 24 hours on the queue on mx.example.org.',
      ),
      { action: 'delayed' },
    ],
    [
      'of Postfix without a report',
      text(
        daemon,
        'This is the mail system at host mx.example.org.',
        'I am sorry to have to inform you that your message could not be delivered.',
        '',
        '<kim@example.org>: host mx2.example.org[192.0.2.1] said: 552 5.2.2 Mailbox full (in reply to RCPT TO command)',
      ),
      { action: 'failed', status: '5.2.2' },
    ],
    [
      'of Exchange',
      text(
        ['From: postmaster@example.org', 'Subject: Undeliverable: Hello'],
        'Delivery has failed to these recipients or groups:',
        '',
        'kim@example.org',
        'The email address you entered couldn’t be found.',
        '',
        'Diagnostic information for administrators:',
        'Generating server: EX01.example.org',
        'kim@example.org',
        '#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##',
      ),
      { action: 'failed', status: '5.1.1', diagnostic: '#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##' },
    ],
    [
      'of Gmail',
      text(
        ['From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>', 'Subject: Delivery Status Notification (Failure)'],
        'Delivery to the following recipient failed permanently:',
        '',
        '     kim@example.org',
        '',
        'Technical details of permanent failure:',
        'The error that the other server returned was: 550 550 5.7.1 Message rejected',
      ),
      { action: 'failed', status: '5.7.1' },
    ],
    [
      'of sendmail that will try again',
      text(
        daemon,
        '    **********************************************',
        '    **      THIS IS A WARNING MESSAGE ONLY      **',
        '    **********************************************',
        '451 4.4.1 reply: read error from mx.example.org.',
      ),
      { action: 'delayed', status: '4.4.1' },
    ],
    [
      'of a server that is not known',
      text(['From: postmaster@example.org', 'Subject: Mail failed'], 'Sorry.', 'kim@example.org: 550 5.1.1 unknown'),
      { action: 'failed', status: '5.1.1' },
    ],
  ])('%s is read', async (_, lines, delivery) => {
    expect(await read(lines)).toMatchObject({ is: 'delivery', deliveries: [delivery] })
  })
})

describe('an email that says nothing of a delivery', () => {
  test.each([
    ['auto-reply', text(['From: kim@example.org', 'Subject: Re: Hello', 'Auto-Submitted: auto-replied'], 'I am away until 550 5.1.1.')],
    ['auto-reply', text(['From: kim@example.org', 'Subject: Out of Office: Hello'], 'Back on Monday.')],
    ['auto-reply', text(['From: kim@example.org', 'Subject: Hello', 'Precedence: auto_reply'], 'Back on Monday.')],
    ['auto-reply', text(['From: kim@example.org', 'Subject: Hello', 'X-Autoreply: yes'], 'Back on Monday.')],
    ['challenge', text(['From: kim@example.org', 'Subject: Hello'], 'Please confirm your message by this link.')],
    ['other', text(['From: kim@example.org', 'Subject: Hello'], 'Our order 550 5.1.1 is late.')],
    ['other', text(['From: postmaster@example.org', 'Subject: Welcome'], 'Your mailbox is ready.')],
    ['other', ['']],
    ['other', ['Content-Type: multipart/mixed; boundary=x', '', '--x']],
  ])('is of kind %s: %#', async (is, lines) => {
    expect(await read(lines)).toEqual({ is })
  })
})

const ARF = [
  'Feedback-Type: abuse',
  'User-Agent: Yahoo!-Mail-Feedback/2.0',
  'Version: 1',
  `Original-Mail-From: <${PATH}@bounces.example.com>`,
  'Original-Rcpt-To: <kim@example.org>',
  'Arrival-Date: Thu, 19 Nov 2026 03:56:21 +0100',
  'Reporting-MTA: dns; fbl.example.org',
  'Source-IP: 192.0.2.10',
  'Reported-Domain: example.com',
  'Reported-Uri: https://example.com/offer',
  'Reported-Uri: mailto:hello@example.com',
  'Incidents: 3',
  '',
]

describe('a complaint', () => {
  const feedback = {
    type: 'abuse',
    incidents: 3,
    reporter: 'fbl.example.org',
    userAgent: 'Yahoo!-Mail-Feedback/2.0',
    sourceIp: '192.0.2.10',
    arrivedAt: new Date('2026-11-19T02:56:21Z'),
    reportedDomains: ['example.com'],
    reportedUris: ['https://example.com/offer', 'mailto:hello@example.com'],
    mailFrom: `${PATH}@bounces.example.com`,
    recipients: ['kim@example.org'],
  }

  test.each(['\r\n', '\n'])('is read, with lines that end with %j', async (end) => {
    const lines = report('feedback-report', ARF, ['Message-ID: <m-1@example.com>', 'Subject: Hello', '', 'x'])
    expect(await read(lines, end)).toEqual({ is: 'feedback', feedback, paths: [PATH], messageIds: ['<m-1@example.com>'] })
  })

  test.each(['abuse', 'fraud', 'virus'])('of type %s needs nothing else, in any case, and without the email', async (type) => {
    const part = [`FEEDBACK-TYPE: ${type.toUpperCase()}`, 'user-agent: x', 'VERSION: 0.1', '']
    expect(await read(report('feedback-report', part))).toMatchObject({
      is: 'feedback',
      feedback: { type, incidents: 1, recipients: [], sourceIp: null, arrivedAt: null },
      messageIds: [],
    })
  })

  test('may have a redacted recipient and nonsense for the rest', async () => {
    const part = ['Feedback-Type: abuse', 'Original-Rcpt-To: redacted', 'Source-IP: unknown', 'Incidents: many', 'Arrival-Date: today', '']
    expect(await read(report('feedback-report', part))).toMatchObject({
      feedback: { recipients: [], sourceIp: null, incidents: 1, arrivedAt: null },
    })
  })

  test.each(['auth-failure', 'not-spam', 'other', 'opt-out', ''])('is not feedback of type "%s"', async (type) => {
    expect(await read(report('feedback-report', [`Feedback-Type: ${type}`, 'Version: 1', '']))).toEqual({ is: 'other' })
  })
})

describe('a report that is hostile', () => {
  test.each([
    ['many parts', ['Content-Type: multipart/report; boundary=x', '', ...Array(20_000).fill('--x')]],
    ['many fields', report('delivery-status', Array(50_000).fill('Action: failed'))],
    ['many blocks', report('delivery-status', Array(10_000).fill(['Action: failed', '']).flat())],
    ['a long line', report('delivery-status', [`Diagnostic-Code: smtp; ${'5.'.repeat(500_000)}`])],
    ['deep nesting', Array.from({ length: 5000 }, (_, at) => `Content-Type: multipart/mixed; boundary=${at}\r\n\r\n--${at}`)],
    ['many return paths', report('delivery-status', [...STATUS, ...Array(5000).fill(`X: ${PATH} b.1-2-3.`)])],
  ])('by %s is read within a second', async (_, lines) => {
    const before = process.cpuUsage()
    await read(lines)
    const { user } = process.cpuUsage(before)
    expect(user).toBeLessThan(1_000_000)
  })
})
