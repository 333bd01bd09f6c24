import type { components } from '@carillon/sdk'

export type MessageState = components['schemas']['MessageSummary']['state']

/** The states of messages, in the order in which a filter offers them. */
export const MESSAGE_STATES = [
  'queued',
  'claimed',
  'deferred',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'unknown',
  'skipped',
  'failed',
  'aborted',
] as const satisfies readonly MessageState[]
