import type { components } from '@carillon/sdk'
import { type ListSearch, listSearchOf, textOf } from '../../parts/paging.ts'

export type Recipient = components['schemas']['QueuedRecipient']
export type Site = components['schemas']['MailSite']
export type Pause = components['schemas']['MailQueuePause']

export const QUEUE = '/api/client/mail-queue'
export const PAUSES = '/api/client/mail-queue/pauses'
export const SITES = '/api/client/mail-sites'
export const SITE = '/api/client/mail-sites/{site}'
export const DAYS = '/api/client/mail-site-days'
export const TLS = '/api/client/tls-results'

export const VIEWS = ['queue', 'sites', 'trend', 'tls'] as const
export type View = (typeof VIEWS)[number]

export const STATES = ['waiting', 'delivered', 'failed', 'expired', 'cancelled'] as const

/** The search and the filters of the queue. */
export type QueueSearch = ListSearch & { state?: (typeof STATES)[number]; site?: string; domain?: string; campaign_id?: string }

/** The address: the view, the search of its table, and the recipient that is open. */
export type MailSearch = QueueSearch & { view?: View; open?: string }

/** A recipient of an email: an email can have several. */
export const keyOf = ({ message_id, recipient }: Recipient): string => `${message_id} ${recipient}`

/** Reads the address. */
export function mailSearchOf(search: Record<string, unknown>): MailSearch {
  const view = VIEWS.find((name) => name === search.view)
  const state = STATES.find((name) => name === search.state)
  const free = (['site', 'domain', 'campaign_id', 'open'] as const).flatMap((name) => {
    const value = textOf(search[name])
    return value === undefined ? [] : [[name, value]]
  })
  return { ...listSearchOf(search), ...(view && { view }), ...(state && { state }), ...Object.fromEntries(free) }
}
