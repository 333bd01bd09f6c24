import type { components } from '@carillon/sdk'
import { type Icon, IconAppWindow, IconBell, IconMail, IconMessage, IconWebhook } from '@tabler/icons-react'
import type { Language } from '../texts/languages.ts'

export type Channel = components['schemas']['MessageSummary']['channel']

/** The texts of a channel. Every screen has them as `channel.<channel>.name`, and its own texts may say one of them in another way. */
type ChannelTexts = {
  /** In columns, filters and fields. */
  name: string
  /** After the type or the name of a campaign. */
  ofCampaign: string
  /** A message, without its recipient. */
  message: string
  /** A message, with its recipient. */
  messageTo: string
  /** How it reaches a user, where no address says so. */
  reaches: string
}

/** The channels whose messages go to an address of the user, which can be suppressed. */
type Addressed = components['schemas']['SuppressionInput']['channel']
/** The field of several of its addresses. */
type AddressTexts = { addresses: string }

/** The channels, in the order in which they are offered. */
const declared: {
  [C in Channel]: { icon: Icon } & Record<Language, C extends Addressed ? ChannelTexts & AddressTexts : ChannelTexts>
} = {
  email: {
    icon: IconMail,
    'en-AU': {
      name: 'Email',
      ofCampaign: 'email',
      message: 'Email',
      messageTo: 'Email to {{to}}',
      reaches: 'By email.',
      addresses: 'Email addresses, one per line',
    },
    de: {
      name: 'E-Mail',
      ofCampaign: 'E-Mail',
      message: 'E-Mail',
      messageTo: 'E-Mail an {{to}}',
      reaches: 'Per E-Mail.',
      addresses: 'E-Mail-Adressen, eine je Zeile',
    },
  },
  text: {
    icon: IconMessage,
    'en-AU': {
      name: 'Text',
      ofCampaign: 'text message',
      message: 'Text message',
      messageTo: 'Text to {{to}}',
      reaches: 'By text message.',
      addresses: 'Phone numbers, one per line, such as +61412345678',
    },
    de: {
      name: 'SMS',
      ofCampaign: 'SMS',
      message: 'SMS',
      messageTo: 'SMS an {{to}}',
      reaches: 'Per SMS.',
      addresses: 'Telefonnummern, eine je Zeile, etwa +61412345678',
    },
  },
  push: {
    icon: IconBell,
    'en-AU': { name: 'Push', ofCampaign: 'push', message: 'Push message', messageTo: 'Push to {{to}}', reaches: 'A device has a token.' },
    de: { name: 'Push', ofCampaign: 'Push', message: 'Push-Nachricht', messageTo: 'Push an {{to}}', reaches: 'Ein Gerät hat ein Token.' },
  },
  webhook: {
    icon: IconWebhook,
    'en-AU': {
      name: 'Webhook',
      ofCampaign: 'webhook',
      message: 'Webhook message',
      messageTo: 'Webhook for {{to}}',
      reaches: 'By the webhook of the campaign.',
    },
    de: {
      name: 'Webhook',
      ofCampaign: 'Webhook',
      message: 'Webhook-Nachricht',
      messageTo: 'Webhook für {{to}}',
      reaches: 'Über den Webhook der Kampagne.',
    },
  },
  in_app: {
    icon: IconAppWindow,
    'en-AU': {
      name: 'In-app',
      ofCampaign: 'in-app',
      message: 'In-app message',
      messageTo: 'In-app message for {{to}}',
      reaches: 'Shown when the app asks.',
    },
    de: {
      name: 'In-App',
      ofCampaign: 'In-App',
      message: 'In-App-Nachricht',
      messageTo: 'In-App-Nachricht für {{to}}',
      reaches: 'Wird gezeigt, wenn die App fragt.',
    },
  },
}

export const CHANNELS = Object.keys(declared) as Channel[]

export const ADDRESSED = CHANNELS.filter((channel): channel is Addressed => 'addresses' in declared[channel]['en-AU'])

export const iconOf = (channel: Channel): Icon => declared[channel].icon

/** The texts of all channels in a language, by channel. */
export const channelTextsIn = (language: Language): Record<string, ChannelTexts> =>
  Object.fromEntries(CHANNELS.map((channel) => [channel, declared[channel][language]]))
