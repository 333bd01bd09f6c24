import { Type } from 'typebox'
import { Timestamp } from '../../../lib/shapes.ts'
import { eventKind } from '../event-kind.ts'
import { AboutMessage, Ip, sampleMessage } from './members.ts'

/** A feedback-loop report in the Abuse Reporting Format (RFC 5965). Only the type of feedback is certain to be in it. */
const Report = AboutMessage({
  incidents: Type.Integer({ minimum: 1, description: 'How many incidents the report stands for.' }),
  reporter: Type.Optional(Type.String({ description: 'Who sent the report.' })),
  source_ip: Type.Optional(Ip),
  arrival_date: Type.Optional(Timestamp),
  reported_domain: Type.Optional(Type.Array(Type.String())),
  reported_uri: Type.Optional(Type.Array(Type.String())),
  original_mail_from: Type.Optional(Type.String()),
  original_rcpt_to: Type.Optional(Type.Array(Type.String())),
  user_agent: Type.Optional(Type.String({ description: 'The program that wrote the report.' })),
  suppressed: Type.Optional(Type.Boolean({ description: 'Nothing more will be sent to this address.' })),
  unsubscribed: Type.Optional(Type.Boolean({ description: 'The recipient was unsubscribed from the subscription type of the message.' })),
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
  summary: 'Somebody reported a message as spam. The recipient is unsubscribed from the subscription type of the message.',
  data: Report,
  sample: { ...sampleReport, unsubscribed: true },
})

export const incomingReportFraud = eventKind({
  type: 'incoming-report.fraud-report',
  summary: 'Somebody reported a message as fraud.',
  data: Report,
  sample: { ...sampleReport, reported_uri: ['https://news.example.com/offer'] },
})

export const incomingReportVirus = eventKind({
  type: 'incoming-report.virus-report',
  summary: 'Somebody reported that a message holds a virus.',
  data: Report,
  sample: sampleReport,
})
