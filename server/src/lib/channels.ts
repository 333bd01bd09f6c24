/**
 * The channels, in the order in which they are listed, with the properties that other modules use. The code of a channel is in
 * `modules/channels/<channel>.ts`, its template kind in `modules/templates/kinds/<channel>.ts`. Pure.
 */

/** The attributes of a user that are addresses. */
export type AddressKind = 'email' | 'phone'

/** Where messages are sent: an address of the user, their devices, their inbox, or the URL of the template. */
type Recipient = AddressKind | 'devices' | 'inbox' | 'endpoint'

/** A text in each language of the hosted pages, by the names of their files. */
type Heading = Record<'ar' | 'de' | 'en' | 'es' | 'fa' | 'fr' | 'he' | 'it' | 'ja' | 'nl' | 'pl' | 'pt' | 'zh' | 'zh_Hant', string>

type ChannelFacts = {
  /** The subscription type of a new project is called `Default <label>` (D-PROJ-1). */
  label: string
  /** Only an address of the user can be suppressed. */
  recipient: Recipient
  /** The member of the content whose links are tracked, and the setting of the project that enables it. `url` is a single link. */
  links: { in: 'html' | 'url'; wrappedBy: 'link_wrap_email' | 'link_wrap_push' } | null
  /** The setting of the project that enables the tracking pixel in `html`. */
  opensCountedBy: 'track_opens_email' | null
  /** Whether opens or clicks are known by any means, so that they can choose the winner of an A/B test. */
  knowsEngagement: boolean
  /** Whether messages have a browser version at `view_url`. */
  isViewable: boolean
  /** The heading of its subscription types in the preference centre; null if the centre does not show them, because users do not get the messages. */
  heading: Heading | null
}

const declared = {
  email: {
    label: 'Email',
    recipient: 'email',
    links: { in: 'html', wrappedBy: 'link_wrap_email' },
    opensCountedBy: 'track_opens_email',
    knowsEngagement: true,
    isViewable: true,
    heading: {
      ar: 'عبر البريد الإلكتروني',
      de: 'Per E-Mail',
      en: 'By email',
      es: 'Por correo electrónico',
      fa: 'با ایمیل',
      fr: 'Par e-mail',
      he: 'בדוא״ל',
      it: 'Per e-mail',
      ja: 'メール',
      nl: 'Per e-mail',
      pl: 'E-mailem',
      pt: 'Por e-mail',
      zh: '电子邮件',
      zh_Hant: '電子郵件',
    },
  },
  text: {
    label: 'SMS',
    recipient: 'phone',
    links: null,
    opensCountedBy: null,
    knowsEngagement: false,
    isViewable: false,
    heading: {
      ar: 'عبر الرسائل النصية القصيرة',
      de: 'Per SMS',
      en: 'By text message',
      es: 'Por SMS',
      fa: 'با پیامک',
      fr: 'Par SMS',
      he: 'בהודעת טקסט',
      it: 'Per SMS',
      ja: 'SMS',
      nl: 'Per sms',
      pl: 'SMS-em',
      pt: 'Por SMS',
      zh: '短信',
      zh_Hant: '簡訊',
    },
  },
  push: {
    label: 'Push',
    recipient: 'devices',
    links: { in: 'url', wrappedBy: 'link_wrap_push' },
    opensCountedBy: null,
    knowsEngagement: true,
    isViewable: false,
    heading: {
      ar: 'على أجهزتك',
      de: 'Auf Ihren Geräten',
      en: 'On your devices',
      es: 'En sus dispositivos',
      fa: 'روی دستگاه‌های شما',
      fr: 'Sur vos appareils',
      he: 'במכשירים שלך',
      it: 'Sui suoi dispositivi',
      ja: 'プッシュ通知',
      nl: 'Op uw apparaten',
      pl: 'Na urządzeniach',
      pt: 'Nos seus dispositivos',
      zh: '推送通知',
      zh_Hant: '推播通知',
    },
  },
  webhook: {
    label: 'Webhook',
    recipient: 'endpoint',
    links: null,
    opensCountedBy: null,
    knowsEngagement: false,
    isViewable: false,
    heading: null,
  },
  in_app: {
    label: 'In-app',
    recipient: 'inbox',
    links: null,
    opensCountedBy: null,
    knowsEngagement: true,
    isViewable: false,
    heading: {
      ar: 'في التطبيق',
      de: 'In der App',
      en: 'In the app',
      es: 'En la aplicación',
      fa: 'در برنامه',
      fr: 'Dans l’application',
      he: 'באפליקציה',
      it: 'Nell’app',
      ja: 'アプリ内',
      nl: 'In de app',
      pl: 'W aplikacji',
      pt: 'No aplicativo',
      zh: '应用内',
      zh_Hant: '應用程式內',
    },
  },
} as const satisfies Record<string, ChannelFacts>

export type Channel = keyof typeof declared

export const channels: Record<Channel, ChannelFacts> = declared

export const CHANNELS = Object.keys(declared) as Channel[]

/** A channel whose messages go to an address of the user. */
export type Addressed = { [C in Channel]: (typeof declared)[C]['recipient'] extends AddressKind ? C : never }[Channel]

const ADDRESS_KINDS: readonly Recipient[] = ['email', 'phone'] satisfies AddressKind[]

/** Whether messages of the channel go to an address of the user, which can be suppressed. */
export const hasAddresses = (channel: Channel): channel is Addressed => ADDRESS_KINDS.includes(channels[channel].recipient)

/** The channels whose messages go to an address of the user. */
export const ADDRESSED = CHANNELS.filter(hasAddresses)

/** The attribute of a user that is the address on the channel. */
export const addressKindOf = (channel: Addressed): AddressKind => declared[channel].recipient

/** The address of a user on a channel; null without one, and on channels without addresses. */
export const addressOf = (channel: Channel, user: Record<AddressKind, string | null>): string | null =>
  hasAddresses(channel) ? user[addressKindOf(channel)] : null
