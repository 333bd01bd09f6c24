/**
 * The ways to reach people, and who carries the messages. Owns `providers`. A channel turns a template that was filled in
 * into a finished message for one person; a provider takes it and says what became of it, at once and, when its vendor calls
 * back, later. Promises: a message never holds a device token, what people wrote about themselves never begins a header of its
 * own, a provider answers accepted, rejected, deferred or uncertain, whatever happens outside, its secrets are sealed and never
 * shown, and a report is believed only with the vendor's proof.
 */

export type { Contact, Unreachable } from './channel.ts'
export { hasProvider } from './configure.ts'
export { connectProvider, type ProviderConnection } from './connections.ts'
export type { Outgoing, ProviderResponse, PushTarget, Rendered, Report } from './provider.ts'
export { findProvider } from './queries.ts'
export { CALLBACK_BYTES_MAX, CALLBACK_PATH, readProviderCallback } from './read-callback.ts'
export { providerRoutes } from './routes.ts'
export { compose, MESSAGE_CONTENTS, unreachable } from './service.ts'
