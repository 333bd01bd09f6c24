import type { EventType } from './search.ts'

type Group = 'message' | 'reply' | 'connection' | 'report' | 'queue'

/** The group of each event type. The compiler refuses a type that is missing here. */
const GROUP_OF: Record<EventType, Group> = {
  'delivery.delivered': 'message',
  'delivery.dsn-perm-fail': 'message',
  'delivery.dsn-temp-fail': 'message',
  'delivery.failed': 'message',
  'delivery.completed': 'message',
  'delivery.attempt-start': 'message',
  'delivery.attempt-end': 'message',
  'incoming-report.abuse-report': 'report',
  'incoming-report.fraud-report': 'report',
  'incoming-report.virus-report': 'report',
  'queue.queue-message-authenticated': 'queue',
  'queue.rescheduled': 'queue',
  'queue.quota-exceeded': 'queue',
  'delivery.concurrency-limit-exceeded': 'queue',
  'delivery.mail-from-rejected': 'reply',
  'delivery.rcpt-to-rejected': 'reply',
  'delivery.rcpt-to-failed': 'reply',
  'delivery.message-rejected': 'reply',
  'delivery.greeting-failed': 'reply',
  'delivery.ehlo-rejected': 'reply',
  'delivery.mx-lookup-failed': 'connection',
  'delivery.ip-lookup-failed': 'connection',
  'delivery.null-mx': 'connection',
  'delivery.connect-error': 'connection',
  'delivery.start-tls-error': 'connection',
  'delivery.start-tls-unavailable': 'connection',
  'delivery.implicit-tls-error': 'connection',
}

/** Every event type, those of messages first. */
export const EVENT_TYPES = Object.keys(GROUP_OF) as EventType[]

/** The event types by group. */
export const GROUPS = [...Map.groupBy(EVENT_TYPES, (type) => GROUP_OF[type])]
