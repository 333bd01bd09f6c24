/**
 * Channels and providers. Owns `providers` and `sandbox_faults`. A channel composes a message for one user from a rendered template. A provider sends
 * it, and reports the result at once or later in a callback. Promises: a message never contains a device token; attributes of users
 * cannot start another header; a provider responds accepted, rejected, deferred or uncertain, also if the network fails; its secrets
 * are encrypted and never shown; a report is only accepted if the provider proves its origin.
 */

export type { Contact, Unreachable } from './channel.ts'
export { providerComponents } from './components.ts'
export { MESSAGE_CONTENTS, unreachable } from './compose.ts'
export { environmentsOf, hasProvider, segmentPriceOf } from './configure.ts'
export { connectProvider, type ProviderConnection } from './connections.ts'
export { copiesOf, domainOf, mailboxesIn, senderOf as emailSenderOf } from './mail.ts'
export { sourceOf } from './mail-source.ts'
export {
  type ComposedMail,
  type Outgoing,
  type ProviderResponse,
  type PushTarget,
  type QueuedMail,
  type Rendered,
  type Report,
  type SmtpTrace,
  shownOf,
} from './provider.ts'
export { findProvider } from './queries.ts'
export { CALLBACK_BYTES_MAX, CALLBACK_PATH, readProviderCallback } from './read-callback.ts'
export { IDEMPOTENT_PROVIDERS, isRefusedBySome } from './registry.ts'
export { providerRoutes } from './routes.ts'
export { type SenderProblem, senderProblemOf } from './sender-check.ts'
