import { Type } from 'typebox'
import { Exact, OneOf, Timestamp } from '../../../lib/shapes.ts'
import { eventKind } from '../event-kind.ts'
import { AboutMessage, Count, ElapsedMs, EnhancedCode, Host, Ip, Reason, SmtpCode, sampleMessage, Words } from './members.ts'

const { to: _, recipient_domain: __, ...sampleWhole } = sampleMessage
const sampleHost = { ...sampleMessage, host: 'mx1.example.org' }

export const deliveryConcurrencyLimitExceeded = eventKind({
  type: 'delivery.concurrency-limit-exceeded',
  summary: 'An attempt was postponed because too many connections to the mail site are open.',
  data: AboutMessage({
    host: Host,
    next_attempt_at: Type.Optional(Timestamp),
    limit: Type.Optional(Count),
  }),
  sample: { host: 'example.org', next_attempt_at: new Date('2026-11-20T02:57:21.664Z'), limit: 20 },
})

export const deliveryAttemptStart = eventKind({
  type: 'delivery.attempt-start',
  summary: 'An attempt to deliver a message started.',
  data: AboutMessage({ queued_ms: Type.Optional(ElapsedMs) }),
  sample: { ...sampleWhole, to: ['kim@example.org'], queued_ms: 42 },
})

export const deliveryAttemptEnd = eventKind({
  type: 'delivery.attempt-end',
  summary: 'An attempt to deliver a message ended, successfully or not.',
  data: AboutMessage({
    elapsed_ms: ElapsedMs,
    result: Type.Optional(OneOf(['delivered', 'partial', 'deferred', 'failed', 'expired'])),
  }),
  sample: { ...sampleWhole, to: ['kim@example.org'], elapsed_ms: 913, result: 'delivered' },
})

export const deliveryCompleted = eventKind({
  type: 'delivery.completed',
  summary: 'Every recipient of a message has reached a final state.',
  data: AboutMessage({ elapsed_ms: ElapsedMs, delivered: Count, failed: Count }),
  sample: { ...sampleWhole, to: ['kim@example.org', 'lee@example.net'], elapsed_ms: 1204, delivered: 1, failed: 1 },
})

export const deliveryDelivered = eventKind({
  type: 'delivery.delivered',
  summary: 'The message was accepted for this recipient.',
  data: AboutMessage({
    host: Type.Optional(Host),
    ip: Type.Optional(Ip),
    smtp_code: Type.Optional(SmtpCode),
    enhanced_code: Type.Optional(EnhancedCode),
    response: Type.Optional(Words),
    elapsed_ms: Type.Optional(ElapsedMs),
    tls: Type.Optional(Exact({ protocol: Type.String(), cipher: Type.String(), verified: Type.Boolean() })),
    relayed: Type.Optional(
      Type.Boolean({ description: 'A relay or a provider accepted the message, and delivers it. A bounce can still follow.' }),
    ),
  }),
  sample: {
    ...sampleHost,
    ip: '192.0.2.25',
    smtp_code: 250,
    enhanced_code: '2.0.0',
    response: '250 2.0.0 OK queued as 7B3F1',
    elapsed_ms: 641,
    tls: { protocol: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: true },
  },
})

export const deliveryDsnPermFail = eventKind({
  type: 'delivery.dsn-perm-fail',
  summary: 'The message bounced. It cannot be delivered to this recipient.',
  data: AboutMessage({
    diagnostic: Words,
    attempts: Type.Integer({ minimum: 1 }),
    smtp_code: Type.Optional(SmtpCode),
    enhanced_code: Type.Optional(EnhancedCode),
    classification: Type.Optional(Type.String({ description: 'The classification of the diagnostic.' })),
    suppressed: Type.Optional(Type.Boolean({ description: 'Whether the address was suppressed, so that it gets no further messages.' })),
    asynchronous: Type.Optional(Type.Boolean({ description: 'The report arrived after the message had been accepted.' })),
  }),
  sample: {
    ...sampleMessage,
    diagnostic: '550 5.1.1 No such user here',
    attempts: 1,
    smtp_code: 550,
    enhanced_code: '5.1.1',
    classification: 'invalid-recipient',
    suppressed: true,
  },
})

export const deliveryDsnTempFail = eventKind({
  type: 'delivery.dsn-temp-fail',
  summary: 'Delivery to this recipient is delayed and will be tried again.',
  data: AboutMessage({
    diagnostic: Words,
    next_attempt_at: Type.Optional(Timestamp),
    expires_at: Type.Optional(Timestamp),
    asynchronous: Type.Optional(Type.Boolean({ description: 'The report arrived after the message had been accepted.' })),
  }),
  sample: {
    ...sampleMessage,
    diagnostic: '452 4.2.2 Mailbox full',
    next_attempt_at: new Date('2026-11-20T03:06:21.664Z'),
    expires_at: new Date('2026-11-22T02:56:21.664Z'),
  },
})

export const deliveryFailed = eventKind({
  type: 'delivery.failed',
  summary:
    'A message failed permanently: for example, the provider refused it, all retries failed, its delivery time ran out, it was cancelled in the mail queue, its user unsubscribed while it waited there, or it could not be rendered.',
  data: AboutMessage({ reason: Reason, provider_code: Type.Optional(Type.String({ description: 'The error code of the provider.' })) }),
  sample: { ...sampleMessage, channel: 'text', to: '+61412345678', reason: 'The number is not in service.', provider_code: '30005' },
})

/** `response` is absent, and `reason` present, when the connection broke or timed out instead. */
const Refusal = AboutMessage({
  host: Host,
  ip: Type.Optional(Ip),
  smtp_code: Type.Optional(SmtpCode),
  enhanced_code: Type.Optional(EnhancedCode),
  response: Type.Optional(Words),
  reason: Type.Optional(Reason),
})

export const deliveryMailFromRejected = eventKind({
  type: 'delivery.mail-from-rejected',
  summary: 'The mail host refused the sender (MAIL FROM).',
  data: Refusal,
  sample: { ...sampleHost, smtp_code: 550, enhanced_code: '5.7.1', response: '550 5.7.1 Sender not allowed' },
})

export const deliveryMessageRejected = eventKind({
  type: 'delivery.message-rejected',
  summary: 'The mail host refused the message itself (DATA).',
  data: AboutMessage({
    ...Refusal.properties,
    uncertain: Type.Optional(Type.Boolean({ description: 'There was no reply, so the message may have been accepted.' })),
  }),
  sample: { ...sampleHost, smtp_code: 554, enhanced_code: '5.6.0', response: '554 5.6.0 Message content rejected' },
})

export const deliveryRcptToRejected = eventKind({
  type: 'delivery.rcpt-to-rejected',
  summary: 'The mail host refused this recipient (RCPT TO).',
  data: Refusal,
  sample: { ...sampleHost, smtp_code: 550, enhanced_code: '5.1.1', response: '550 5.1.1 No such user here' },
})

export const deliveryRcptToFailed = eventKind({
  type: 'delivery.rcpt-to-failed',
  summary: 'There was no valid reply for this recipient (RCPT TO), because the connection broke or timed out.',
  data: AboutMessage({ host: Host, ip: Type.Optional(Ip), reason: Reason }),
  sample: { ...sampleHost, reason: 'The connection was closed before a reply.' },
})

export const deliveryMxLookupFailed = eventKind({
  type: 'delivery.mx-lookup-failed',
  summary: 'The mail hosts (MX) of the domain could not be resolved.',
  data: AboutMessage({
    domain: Type.String(),
    reason: Reason,
    fallback: Type.Optional(OneOf(['implicit-mx'], { description: 'The domain itself is tried as the mail host.' })),
  }),
  sample: { ...sampleMessage, domain: 'example.org', reason: 'There are no MX records.', fallback: 'implicit-mx' },
})

export const deliveryIpLookupFailed = eventKind({
  type: 'delivery.ip-lookup-failed',
  summary: 'The IP address of a mail host could not be resolved.',
  data: AboutMessage({ host: Host, reason: Reason }),
  sample: { ...sampleHost, reason: 'The host name does not exist.' },
})

export const deliveryNullMx = eventKind({
  type: 'delivery.null-mx',
  summary: 'The domain has a null MX record, so it accepts no email (RFC 7505).',
  data: AboutMessage({ domain: Type.String() }),
  sample: { ...sampleMessage, domain: 'example.org' },
})

export const deliveryConnectError = eventKind({
  type: 'delivery.connect-error',
  summary: 'The connection to the mail host failed.',
  data: AboutMessage({ host: Host, ip: Type.Optional(Ip), reason: Reason }),
  sample: { ...sampleHost, ip: '192.0.2.25', reason: 'The connection was refused.' },
})

const Greeting = Refusal

export const deliveryGreetingFailed = eventKind({
  type: 'delivery.greeting-failed',
  summary: 'The mail host refused the connection in its greeting, or sent no greeting.',
  data: Greeting,
  sample: { ...sampleHost, ip: '192.0.2.25', response: '554 5.3.2 No service today' },
})

export const deliveryEhloRejected = eventKind({
  type: 'delivery.ehlo-rejected',
  summary: 'The mail host refused the EHLO command.',
  data: Greeting,
  sample: { ...sampleHost, ip: '192.0.2.25', response: '550 5.7.1 Access denied' },
})

export const deliveryStartTlsError = eventKind({
  type: 'delivery.start-tls-error',
  summary: 'The mail host offered STARTTLS, but the TLS handshake failed.',
  data: AboutMessage({
    host: Host,
    ip: Type.Optional(Ip),
    reason: Reason,
    fallback: Type.Optional(OneOf(['plaintext', 'next-host', 'none'], { description: 'How delivery continues.' })),
  }),
  sample: { ...sampleHost, reason: 'The certificate has expired.', fallback: 'next-host' },
})

export const deliveryStartTlsUnavailable = eventKind({
  type: 'delivery.start-tls-unavailable',
  summary: 'The mail host does not offer STARTTLS.',
  data: AboutMessage({
    host: Host,
    ip: Type.Optional(Ip),
    reason: Reason,
    required: Type.Optional(Type.Boolean({ description: 'Delivery to this host requires TLS.' })),
  }),
  sample: { ...sampleHost, reason: 'STARTTLS is not in the list of extensions.', required: false },
})

export const deliveryImplicitTlsError = eventKind({
  type: 'delivery.implicit-tls-error',
  summary: 'The TLS handshake failed with a mail host that uses TLS from the start.',
  data: AboutMessage({ host: Host, ip: Type.Optional(Ip), reason: Reason }),
  sample: { ...sampleHost, reason: 'The host does not use TLS on this port.' },
})
