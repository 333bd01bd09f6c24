/** Messages as channels make them. */
import type { Channel } from '../../lib/shapes.ts'
import type { ChannelKind, Contact, Unreachable } from './channel.ts'
import * as kinds from './kinds.ts'
import type { Rendered } from './provider.ts'

const channels: Record<Channel, ChannelKind> = kinds

/** What finished messages say, by channel. */
export const MESSAGE_CONTENTS = Object.values(channels).map(({ content }) => content)

/** Why a person cannot be reached over a channel, or null. */
export const unreachable = (channel: Channel, contact: Contact): Unreachable | null => channels[channel].unreachable(contact)

/** Makes the finished message out of a template that was filled in, for somebody who can be reached. */
export function compose(channel: Channel, filled: Record<string, unknown>, contact: Contact): Rendered | { problem: string } {
  const composed = channels[channel].compose(filled, contact)
  return 'problem' in composed ? composed : { ...composed, channel, content: composed.content as Rendered['content'] }
}
