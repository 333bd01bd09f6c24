import type { components } from '@carillon/sdk'

export type Channel = components['schemas']['MessageSummary']['channel']

/** The channels, in the order in which they are offered. */
export const CHANNELS = ['email', 'text', 'push', 'webhook', 'in_app'] as const satisfies readonly Channel[]
