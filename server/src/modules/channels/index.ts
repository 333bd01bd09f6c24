/**
 * The ways to reach people, and who carries the messages. Owns no table. A channel turns a template that was filled in
 * into a finished message for one person; a provider takes it and says what became of it.
 * Promises: a message never holds a device token, what people wrote about themselves never begins a header of its own,
 * and a provider answers accepted, rejected or deferred, whatever happens outside.
 */
export type { Unreachable } from './channel.ts'
export type { Outcome, Rendered } from './provider.ts'
export { compose, DEFAULT_PROVIDER, handOver, MESSAGE_CONTENTS, REPEATABLE_PROVIDERS, unreachable } from './service.ts'
