import { attributesOf, objectIn, type Product, present, type Row, tagsLeft, textOf, timezoneOf } from './product.ts'

const FIELDS = ['id', 'cio_id', 'email', 'phone', 'timezone', 'language', 'unsubscribed', 'cio_subscription_preferences']

const USER_FIELDS: Record<string, string> = { id: 'external_id', email: 'email', phone: 'phone', timezone: 'timezone', language: 'locale' }

const URLS: Record<string, string> = {
  unsubscribe_url: 'unsubscribe_url',
  manage_subscription_preferences_url: 'preferences_url',
  view_in_browser_url: 'view_url',
}

/** The export of people (CSV), the ESP suppressions of the App API (JSON) and templates of Customer.io. */
export const customerIo: Product = {
  ids: ['id', 'cio_id'],
  user: (row, id) => ({
    user: {
      external_id: id,
      ...present({ email: textOf(row.email), phone: textOf(row.phone), locale: textOf(row.language), timezone: timezoneOf(row.timezone) }),
      data: attributesOf(row, FIELDS),
    },
    isSubscribed: row.unsubscribed === undefined ? undefined : !isOptOut(row.unsubscribed),
    // “Unsubscribed” stops every channel there.
    channels: ['email', 'text'],
    optsOutOf: 'everything',
    topics: topicsOf(row),
  }),
  reason: (row) => {
    const reason = `${textOf(row.suppression_type) ?? ''} ${textOf(row.reason) ?? ''}`.toLowerCase()
    if (reason.includes('spam')) return 'complaint'
    return reason.includes('bounce') || reason.includes('invalid') ? 'hard_bounce' : undefined
  },
  convert: (template) => {
    const text = template.replace(/\{\{[^{}]*\}\}|\{%[^{}%]*%\}/g, (tag) => {
      const [, name = ''] = /^\{%-? *(\w+) *-?%\}$/.exec(tag) ?? []
      if (Object.hasOwn(URLS, name)) return `{{ ${URLS[name]} }}`
      return tag
        .replace(
          /\bcustomer\.(\w+)/g,
          (_, field: string) => `user.${Object.hasOwn(USER_FIELDS, field) ? USER_FIELDS[field] : `data.${field}`}`,
        )
        .replace(/\b(?:event|trigger)\.(?!data\.)(\w+)/g, 'event.data.$1')
    })
    return { text, left: tagsLeft(text, /\{\{-? *(?:content|snippets\.)[^{}]*\}\}|\{%-? *(?:unsubscribe|snippet)[^{}%]*%\}/g) }
  },
}

/** Whatever does not say that there is no opt-out is one: an export can spell it in another way, such as `1` or `yes`. */
const isOptOut = (cell: unknown): boolean =>
  !['', 'false', '0', 'no'].includes(
    String(cell ?? '')
      .trim()
      .toLowerCase(),
  )

/** The subscription preferences: `{"topics":{"topic_1":true}}`. */
function topicsOf(row: Row): Record<string, boolean> {
  const { topics } = objectIn(row.cio_subscription_preferences)
  return Object.fromEntries(Object.entries(objectIn(topics)).map(([topic, state]) => [topic, state === true]))
}
