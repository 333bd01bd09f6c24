import { type Product, present, snakeCase, tagsLeft, textOf, timezoneOf } from './product.ts'

/** Columns of an audience that are not attributes. */
const FIELDS = [
  ...['Email Address', 'TIMEZONE', 'EUID', 'LEID', 'MEMBER_RATING', 'OPTIN_IP', 'CONFIRM_IP', 'LATITUDE', 'LONGITUDE', 'GMTOFF', 'DSTOFF'],
  ...['UNSUB_TIME', 'UNSUB_CAMPAIGN_TITLE', 'UNSUB_CAMPAIGN_ID', 'UNSUB_REASON', 'UNSUB_REASON_OTHER'],
  ...['CLEAN_TIME', 'CLEAN_CAMPAIGN_TITLE', 'CLEAN_CAMPAIGN_ID', 'TAGS', 'Phone Number'],
]

const TAGS: Record<string, string> = {
  FNAME: '{{ user.data.first_name }}',
  LNAME: '{{ user.data.last_name }}',
  EMAIL: '{{ user.email }}',
  UNSUB: '{{ unsubscribe_url }}',
  UPDATE_PROFILE: '{{ preferences_url }}',
  ARCHIVE: '{{ view_url }}',
  MC_PREVIEW_TEXT: '',
  'END:IF': '{% endif %}',
  'ELSE:': '{% else %}',
}

/** Tags of the sender or the campaign, which have no place among the attributes of users. */
const OTHERS = ['CURRENT_YEAR', 'MC_DATE', 'MC_SUBJECT', 'REWARDS', 'ABUSE_EMAIL', 'FORWARD', 'TRANSLATE']

const NAMES: Record<string, string> = { FNAME: 'first_name', LNAME: 'last_name' }

const attributeOf = (tag: string) => `user.data.${Object.hasOwn(NAMES, tag) ? NAMES[tag] : tag.toLowerCase()}`

/** The exports of an audience (CSV: subscribed, unsubscribed, cleaned) and templates (HTML) of Mailchimp. */
export const mailchimp: Product = {
  ids: ['EUID', 'Email Address'],
  user: (row, id) => {
    const tags = [...(textOf(row.TAGS) ?? '').matchAll(/"([^"]*)"/g)].map(([, tag]) => tag)
    const attributes = Object.entries(row).filter(([name, value]) => !FIELDS.includes(name) && value !== '')
    return {
      user: {
        external_id: id,
        ...present({ email: textOf(row['Email Address']), phone: textOf(row['Phone Number']), timezone: timezoneOf(row.TIMEZONE) }),
        data: { ...Object.fromEntries(attributes.map(([name, value]) => [snakeCase(name), value])), ...(tags.length > 0 && { tags }) },
      },
      isSubscribed: !textOf(row.UNSUB_TIME) && !textOf(row.CLEAN_TIME),
      channels: ['email'],
      optsOutOf: 'audience',
      topics: {},
      // Mailchimp cleans addresses that bounced.
      ...(textOf(row.CLEAN_TIME) && { blocked: 'hard_bounce' as const }),
    }
  },
  reason: (row) => (textOf(row.CLEAN_TIME) ? 'hard_bounce' : textOf(row.UNSUB_TIME) ? 'unsubscribed_all' : undefined),
  convert: (template) => {
    const text = template.replace(/\*\|([A-Z0-9_:]{1,60})\|\*/g, (tag, name: string) => {
      if (Object.hasOwn(TAGS, name)) return TAGS[name] as string
      const [, attribute] = /^IF:([A-Z0-9_]+)$/.exec(name) ?? []
      if (attribute) return `{% if ${attributeOf(attribute)} %}`
      return name.includes(':') || OTHERS.includes(name) ? tag : `{{ ${attributeOf(name)} }}`
    })
    return { text, left: tagsLeft(text, /\*\|[^|]{1,200}\|\*/g) }
  },
}
