import type { RelayRecording, RelayReply } from '../../recording.ts'

const settings = { tls: 'none', username: 'carillon', password: 'secret', default_from: 'Default <default@example.com>', connections: 2 }

const withoutSender = { to: 'kim@example.org', subject: 'Hello', html: '<p>Hello Kim</p>', text: 'Hello Kim' }

/** Replies about a recipient, and whether they mean an invalid address: by enhanced status code, or by words where a reply has no code. */
const RECIPIENTS = [
  ['5.1.1 No', true],
  ['5.1.2 No', true],
  ['5.1.3 No', true],
  ['5.1.6 No', true],
  ['5.1.10 No', true],
  ['5.2.1 No', true],
  ['5.1.0 No', false],
  ['5.1.8 No', false],
  ['5.2.0 No', false],
  ['5.2.2 Mailbox full', false],
  ['5.2.3 Too large', false],
  ['5.4.1 No', false],
  ['5.7.1 User unknown', false],
  ['5.7.1 Relaying denied', false],
  ['unknown user', true],
  ['User unknown in virtual table', true],
  ['No such user here', true],
  ['Account does not exist', true],
  ['Mailbox not found', true],
  ['mailbox unavailable', true],
  ['Invalid mailbox', true],
  ['invalid recipient', true],
  ['Invalid address', true],
  ['relaying denied', false],
  ['Blocked by policy', false],
  ['Verification failed for <hello@example.com> 550-No Such User Here 550 Sender verify failed', false],
  ['The account or domain may not exist, they may be blacklisted, or missing the proper dns entries.', false],
  ['Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org', false],
  ['The sender domain does not exist', false],
  ['Service unavailable', false],
  ['Your account has been suspended. Contact support.', false],
  ['Your account does not exist', false],
  ['Account disabled for sending', false],
  ['SMTP account expired', false],
  ['Your account is not active, please verify it', false],
  ['Mail from hello@example.com: user disabled', false],
  ['MAIL FROM:<hello@example.com>: no such user', false],
  ['Your domain is not listed in our relay domains', false],
  ['hello@example.com is not a valid sender', false],
  ['Sender not known', false],
  ['No user logged in', false],
  ['Recipient address rejected: Access denied', false],
  ['Recipient address rejected: Policy restrictions', false],
  ['Sender verification failed: user unknown', false],
  ['Sender hello@example.com does not exist', false],
  ['No such sender.', false],
  ['Helo host not found', false],
  ['<sender@example.org>: unknown user', true],
  ['<kim@sender.example.org>: unknown user', true],
  ['5.1.1 Sender verify failed', false],
  ['5.1.1 Sender verification failed: user unknown', false],
  ['5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages.', false],
] as const

export const smtp: RelayRecording = {
  over: 'relay',
  settings: ({ host, port }) => ({ host, port, ...settings }),
  sends: {
    success: {
      replies: ['accepted'],
      outcome: { is: 'accepted', delivered: false, reference: '<k-42@example.com>' },
      message: {
        headers: { 'List-Unsubscribe': '<https://carillon.test/u/1>', 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
        content: {
          ...withoutSender,
          from: 'Grüße <hello@example.com>',
          reply_to: 'help@example.com',
          cc: 'Ana <ana@example.org>, kim@example.org',
          bcc: 'boss@example.org, ANA@example.org',
        },
      },
      requests: [
        {
          from: 'hello@example.com',
          to: ['kim@example.org', 'ana@example.org', 'boss@example.org'],
          user: 'carillon',
          headers: {
            from: '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?= <hello@example.com>',
            to: 'kim@example.org',
            cc: 'Ana <ana@example.org>',
            subject: 'Hello',
            'reply-to': 'help@example.com',
            'message-id': '<k-42@example.com>',
            'list-unsubscribe': '<https://carillon.test/u/1>',
            'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
          },
        },
      ],
    },
    default_sender: {
      replies: ['accepted'],
      outcome: { is: 'accepted' },
      message: { content: withoutSender },
      requests: [{ from: 'default@example.com', headers: { from: 'Default <default@example.com>' } }],
    },
    bad_sender: {
      replies: [],
      outcome: { is: 'rejected', code: 'no_sender' },
      message: { content: { ...withoutSender, from: 'nobody' } },
      requests: [],
    },
    bad_recipient: {
      replies: [{ at: 'RCPT', code: 550, text: '5.1.1 The email account that you tried to reach does not exist' }],
      outcome: {
        is: 'rejected',
        bounced: true,
        code: '5.1.1',
        reason: '550 5.1.1 The email account that you tried to reach does not exist',
      },
    },
    bad_recipient_in_words: {
      replies: [{ at: 'RCPT', code: 550, text: 'Requested action not taken: mailbox unavailable' }],
      outcome: { is: 'rejected', bounced: true, code: '550' },
    },
    ...Object.fromEntries(
      RECIPIENTS.map(([text, isBad]) => [
        `recipient refused: ${text}`,
        {
          replies: [{ at: 'RCPT' as const, code: 550, text }],
          outcome: { is: 'rejected' as const, reason: `550 ${text}`, ...(isBad && { bounced: true as const }) },
        },
      ]),
    ),
    no_relaying_by_another_code: {
      replies: [{ at: 'RCPT', code: 553, text: 'Relaying disallowed as hello@example.com' }],
      outcome: { is: 'rejected', code: '553' },
    },
    sender_unknown: {
      replies: [{ at: 'MAIL', code: 550, text: '5.1.1 User unknown' }],
      outcome: { is: 'rejected', code: '5.1.1' },
    },
    recipient_unknown_for_now: {
      replies: [{ at: 'RCPT', code: 450, text: '4.1.1 User unknown' }],
      outcome: { is: 'deferred', code: '4.1.1' },
    },
    no_relaying: {
      replies: [{ at: 'RCPT', code: 550, text: 'relaying denied' }],
      outcome: { is: 'rejected', code: '550', reason: '550 relaying denied' },
    },
    mailbox_full: {
      replies: [{ at: 'RCPT', code: 552, text: '5.2.2 Mailbox full' }],
      outcome: { is: 'rejected', code: '5.2.2', reason: '552 5.2.2 Mailbox full' },
    },
    unwanted_sender: {
      replies: [{ at: 'MAIL', code: 550, text: '5.7.1 Sender not allowed' }],
      outcome: { is: 'rejected', code: '5.7.1', reason: '550 5.7.1 Sender not allowed' },
    },
    spam: {
      replies: [{ at: 'BODY', code: 554, text: '5.7.1 Message refused as spam' }],
      outcome: { is: 'rejected', code: '5.7.1', reason: '554 5.7.1 Message refused as spam' },
    },
    throttled: {
      replies: [{ at: 'RCPT', code: 450, text: '4.2.1 Too many mails, try again later' }],
      outcome: { is: 'deferred', code: '4.2.1' },
    },
    refused_connection: { replies: [{ at: 'CONNECT', code: 554, text: '5.7.1 No service' }], outcome: { is: 'deferred' } },
    wrong_password: { replies: [{ at: 'AUTH', code: 535, text: '5.7.8 Authentication failed' }], outcome: { is: 'deferred' } },
    out_of_order: { replies: [{ at: 'MAIL', code: 503, text: '5.5.1 Bad sequence of commands' }], outcome: { is: 'deferred' } },
    outage: { replies: [{ at: 'BODY', code: 451, text: '4.3.0 Local error' }], outcome: { is: 'deferred', code: '4.3.0' } },
    nonsense: { replies: [{ at: 'RCPT', code: 555, text: '???' }], outcome: { is: 'rejected', code: '555' } },
    refused: { replies: ['refused'], outcome: { is: 'deferred', reason: 'The relay refused the connection.' } },
    cut_early: { replies: Array.from({ length: 3 }, (): RelayReply => ({ at: 'RCPT', cut: true })), outcome: { is: 'deferred' } },
    cut: { replies: [{ at: 'BODY', cut: true }], outcome: { is: 'uncertain' } },
  },
  tests: [
    { replies: [], works: true, requests: [] },
    { replies: [{ at: 'AUTH', code: 535, text: '5.7.8 Authentication failed' }], works: false },
    { replies: ['refused'], works: false },
  ],
}
