/** The client of the API for TypeScript. */
export type { components, paths } from './api.ts'
export { type BufferOptions, bufferEvents, type EventBuffer, type EventInput, type RefusedEvent } from './buffer.ts'
export {
  type Answer,
  type Asked,
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  etagOf,
  type Options,
  type PathOf,
  type Reply,
} from './client.ts'
export { each, type ItemOf, type ListPath } from './each.ts'
export { CarillonError } from './error.ts'
export type { Clock } from './platform.ts'
export { jsonOf, readReply } from './reply.ts'
export { type VerifyOptions, verifyWebhook, WebhookError, type WebhookEvent, type WebhookHeaders } from './webhook.ts'
