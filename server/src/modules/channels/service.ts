import type { Ctx } from '../../infra/ctx.ts'
import type { Channel } from '../../lib/shapes.ts'
import type { ChannelKind, Contact, Unreachable } from './channel.ts'
import * as kinds from './kinds.ts'
import type { Outcome, Provider, Rendered } from './provider.ts'
import * as registry from './providers/index.ts'

const channels: Record<Channel, ChannelKind> = kinds
const providers: Record<ProviderName, Provider> = registry

export type ProviderName = keyof typeof registry

/** Who carries the messages of a project that has not chosen anybody. */
export const DEFAULT_PROVIDER: ProviderName = 'sandbox'

/** The providers whose begun handovers may be repeated after a crash. */
export const REPEATABLE_PROVIDERS: readonly string[] = Object.entries(providers).flatMap(([name, { repeatable }]) =>
  repeatable ? [name] : [],
)

/** What finished messages say, by channel. */
export const MESSAGE_CONTENTS = Object.values(channels).map(({ content }) => content)

/** Why a person cannot be reached over a channel, or null. */
export const unreachable = (channel: Channel, contact: Contact): Unreachable | null => channels[channel].unreachable(contact)

/** Makes the finished message out of a template that was filled in, for somebody who can be reached. */
export function compose(channel: Channel, filled: Record<string, unknown>, contact: Contact): Rendered | { problem: string } {
  const composed = channels[channel].compose(filled, contact)
  return 'problem' in composed ? composed : { ...composed, channel, content: composed.content as Rendered['content'] }
}

/** Hands a message to a provider. Never throws for what the provider answers. */
export async function handOver(ctx: Ctx, name: ProviderName, message: Rendered): Promise<{ outcome: Outcome; elapsedMs: number }> {
  const started = performance.now()
  const outcome = await providers[name].send({}, message, { fetch: ctx.fetch, clock: ctx.clock })
  const elapsedMs = performance.now() - started
  ctx.metrics.messageSent(message.channel, name, outcome.is, elapsedMs)
  return { outcome, elapsedMs }
}
