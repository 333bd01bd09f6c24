import { attributesOf, objectIn, type Product, present, tagsLeft, textOf, timezoneOf } from './product.ts'

/** Members of an exported user that are not attributes. */
const FIELDS = [
  ...['external_id', 'braze_id', 'user_aliases', 'email', 'phone', 'language', 'time_zone', 'custom_attributes', 'custom_events'],
  ...['email_subscribe', 'email_opted_in_at', 'email_unsubscribed_at', 'push_subscribe', 'push_opted_in_at', 'push_unsubscribed_at'],
  ...[
    'push_tokens',
    'devices',
    'apps',
    'campaigns_received',
    'canvases_received',
    'cards_clicked',
    'purchases',
    'sessions',
    'random_bucket',
  ],
]

const USER_FIELDS: Record<string, string> = {
  email_address: 'user.email',
  phone_number: 'user.phone',
  user_id: 'user.external_id',
  language: 'user.locale',
  time_zone: 'user.timezone',
  unsubscribe_url: 'unsubscribe_url',
  set_user_to_unsubscribed_url: 'unsubscribe_url',
}

/** Exports of users (JSON lines), of hard bounces and unsubscribed addresses (JSON), and templates of Braze. */
export const braze: Product = {
  ids: ['external_id', 'braze_id'],
  user: (row, id) => ({
    user: {
      external_id: id,
      ...present({ email: textOf(row.email), phone: textOf(row.phone), locale: textOf(row.language), timezone: timezoneOf(row.time_zone) }),
      data: { ...attributesOf(row, FIELDS), ...attributesOf(objectIn(row.custom_attributes), []) },
    },
    isSubscribed: row.email_subscribe === undefined ? undefined : row.email_subscribe !== 'unsubscribed',
    channels: ['email'],
    optsOutOf: 'everything',
    topics: {},
  }),
  reason: (row) => (row.hard_bounced_at ? 'hard_bounce' : row.unsubscribed_at ? 'unsubscribed_all' : undefined),
  convert: (template) => {
    const text = template.replace(/\{\{(?:[^{}]|\$\{\w*\})*\}\}|\{%(?:[^{}%]|\$\{\w*\})*%\}/g, (tag) =>
      tag
        .replace(/\bcustom_attribute\.\$\{(\w+)\}/g, 'user.data.$1')
        .replace(/\b(?:event_properties|api_trigger_properties|canvas_entry_properties)\.\$\{(\w+)\}/g, 'event.data.$1')
        .replace(/(?<![.\w])\$\{(\w+)\}/g, (_, name: string) =>
          Object.hasOwn(USER_FIELDS, name) ? (USER_FIELDS[name] as string) : `user.data.${name}`,
        ),
    )
    return { text, left: tagsLeft(text, /\{\{[^{}]*\$\{\w*\}[^{}]*\}\}|\{%-? *(?:connected_content|abort_message)[^{}%]*%\}/g) }
  },
}
