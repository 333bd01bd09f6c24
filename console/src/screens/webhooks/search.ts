import type { components } from '@carillon/sdk'
import type { ListSearch } from '../../parts/paging.ts'

export type Endpoint = components['schemas']['Webhook']
export type Attempts = components['schemas']['WebhookAttemptReply']
export type EventType = Endpoint['event_types'][number]

export const ENDPOINTS = '/api/client/webhooks'
export const ATTEMPTS = '/api/client/webhooks/attempts'
export const ENDPOINT = '/api/client/webhooks/{endpointId}'
export const DELIVERIES = '/api/client/webhooks/{endpointId}/deliveries'
export const DELIVERY = '/api/client/webhooks/{endpointId}/deliveries/{deliveryId}'
export const REPLAYS = '/api/client/webhooks/{endpointId}/replays'

/** The views of an endpoint. */
export const VIEWS = ['deliveries', 'replays', 'events'] as const
export type View = (typeof VIEWS)[number]

/** The address of an endpoint: its view, the page and search of its table, and the delivery that is open. */
export type EndpointSearch = ListSearch & { view?: View; delivery?: number }
