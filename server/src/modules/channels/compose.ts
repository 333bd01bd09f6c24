/** Composes messages by channel. */
import { addressOf, type Channel, channels, hasAddresses } from '../../lib/channels.ts'
import type { ChannelKind, Contact, Unreachable } from './channel.ts'
import * as kinds from './kinds.ts'
import type { Rendered } from './provider.ts'

const kindOf: Record<Channel, ChannelKind> = kinds

/** The schemas of messages’ contents, by channel. */
export const MESSAGE_CONTENTS = Object.values(kindOf).map(({ content }) => content)

/** Why a user cannot be reached over a channel, or null. */
export function unreachable(channel: Channel, contact: Contact): Unreachable | null {
  if (hasAddresses(channel)) return addressOf(channel, contact) === null ? 'no_address' : null
  return channels[channel].recipient === 'devices' && !contact.has_push_device ? 'no_push_device' : null
}

/** Composes a message from a rendered template, for a user who can be reached. */
export function compose(channel: Channel, filled: Record<string, unknown>, contact: Contact): Rendered | { problem: string } {
  const composed = kindOf[channel].compose(filled, contact)
  return 'problem' in composed ? composed : { ...composed, channel, content: composed.content as Rendered['content'] }
}
