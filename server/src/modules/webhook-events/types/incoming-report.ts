import { Type } from 'typebox'
import { Timestamp } from '../../../lib/shapes.ts'
import { eventKind } from '../event-kind.ts'
import { AboutMessage, sampleMessage } from './members.ts'

/** A feedback report in the Abuse Reporting Format (RFC 5965), in which only the type of feedback is required. */
const Report = AboutMessage({
  incidents: Type.Integer({ minimum: 1, description: 'The number of incidents that the report covers.' }),
  reporter: Type.Optional(Type.String({ description: 'The sender of the report.' })),
  source_ip: Type.Optional(Type.String({ description: 'The IP address that the reported email was sent from.' })),
  arrival_date: Type.Optional(Timestamp),
  reported_domain: Type.Optional(Type.Array(Type.String())),
  reported_uri: Type.Optional(Type.Array(Type.String())),
  original_mail_from: Type.Optional(Type.String()),
  original_rcpt_to: Type.Optional(Type.Array(Type.String())),
  user_agent: Type.Optional(Type.String({ description: 'The software that generated the report.' })),
  suppressed: Type.Optional(Type.Boolean({ description: 'Whether the address was suppressed, so that it gets no further messages.' })),
  unsubscribed: Type.Optional(
    Type.Boolean({ description: 'Whether the recipient was unsubscribed from the subscription type of the message.' }),
  ),
})

const { attempt: _, ...sampleReported } = sampleMessage
const sampleReport = {
  ...sampleReported,
  incidents: 1,
  reporter: 'fbl.example.org',
  source_ip: '192.0.2.10',
  arrival_date: new Date('2026-11-20T02:56:21.664Z'),
  reported_domain: ['news.example.com'],
}

export const incomingReportAbuse = eventKind({
  type: 'incoming-report.abuse-report',
  summary: 'A recipient reported a message as spam. The event shows whether the address was suppressed and the user unsubscribed.',
  data: Report,
  sample: { ...sampleReport, unsubscribed: true },
})

export const incomingReportFraud = eventKind({
  type: 'incoming-report.fraud-report',
  summary: 'A recipient reported a message as fraud. The address was suppressed.',
  data: Report,
  sample: { ...sampleReport, reported_uri: ['https://news.example.com/offer'] },
})

export const incomingReportVirus = eventKind({
  type: 'incoming-report.virus-report',
  summary: 'A recipient reported that a message contains a virus.',
  data: Report,
  sample: sampleReport,
})
