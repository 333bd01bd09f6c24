import { objectIn, type Product, present, tagsLeft, textOf } from './product.ts'

const FIELDS: Record<string, string> = {
  Email: 'user.email',
  UUID: 'user.external_id',
  Name: 'user.data.name',
  FirstName: 'user.data.name | split: " " | first',
  LastName: 'user.data.name | split: " " | last',
}

const URLS: Record<string, string> = {
  UnsubscribeURL: '{{ unsubscribe_url }}',
  ManageURL: '{{ preferences_url }}',
  MessageURL: '{{ view_url }}',
  TrackView: '',
}

/** The export of subscribers (CSV) and templates of listmonk. */
export const listmonk: Product = {
  ids: ['uuid', 'email'],
  user: (row, id) => ({
    user: {
      external_id: id,
      ...present({ email: textOf(row.email) }),
      data: { ...objectIn(row.attributes ?? row.attribs), ...present({ name: textOf(row.name) }) },
    },
    isSubscribed: row.status === undefined ? undefined : row.status === 'enabled',
    channels: ['email'],
    optsOutOf: 'everything',
    topics: {},
    // A disabled subscriber gets nothing, and did not ask for that.
    ...(row.status === 'disabled' && { blocked: 'manual' as const }),
  }),
  reason: (row) => (row.status === 'blocklisted' ? 'unsubscribed_all' : undefined),
  convert: (template) => {
    const text = template
      .replace(/\{\{-? *TrackLink "([^"]*)"[ .]*-?\}\}/g, '$1')
      .replaceAll('@TrackLink', '')
      .replace(/\{\{-? *([A-Za-z]+)[ .]*-?\}\}/g, (tag, name: string) => (Object.hasOwn(URLS, name) ? (URLS[name] as string) : tag))
      .replace(/\{\{-? *\.Subscriber\.Attribs\.([\w.]+) *-?\}\}/g, '{{ user.data.$1 }}')
      .replace(/\{\{-? *\.Subscriber\.([A-Za-z]+) *-?\}\}/g, (tag, name: string) =>
        Object.hasOwn(FIELDS, name) ? `{{ ${FIELDS[name]} }}` : tag,
      )
    return { text, left: tagsLeft(text, /\{\{-? *(?:\.|if |else|end|range |template |with |OptinURL|L\.)[^{}]*\}\}/g) }
  },
}
