import { type Product, present, type Row, snakeCase, tagsLeft, textOf, timezoneOf } from './product.ts'

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

/**
 * Whether a row is subscribed. Unknown without a time of an opt-in: the file of the contacts who are “non-subscribed”, such as customers of
 * a shop, has no other sign of them.
 */
function isSubscribed(row: Row): boolean | undefined {
  if (textOf(row.UNSUB_TIME) || textOf(row.CLEAN_TIME)) return false
  const optIns = [row.OPTIN_TIME, row.CONFIRM_TIME].filter((cell) => cell !== undefined)
  return optIns.length === 0 || optIns.some((cell) => textOf(cell)) ? true : undefined
}

/** The exports of an audience (CSV: subscribed, unsubscribed, cleaned, non-subscribed) and templates (HTML) of Mailchimp. */
export const mailchimp: Product = {
  ids: ['EUID', 'Email Address'],
  filesOfUnasked: /^non[-_ ]?subscribed/i,
  user: (row, id) => {
    const tags = [...(textOf(row.TAGS) ?? '').matchAll(/"([^"]*)"/g)].map(([, tag]) => tag)
    const attributes = Object.entries(row).filter(([name, value]) => !FIELDS.includes(name) && value !== '')
    return {
      user: {
        external_id: id,
        ...present({ email: textOf(row['Email Address']), phone: textOf(row['Phone Number']), timezone: timezoneOf(row.TIMEZONE) }),
        data: { ...Object.fromEntries(attributes.map(([name, value]) => [snakeCase(name), value])), ...(tags.length > 0 && { tags }) },
      },
      isSubscribed: isSubscribed(row),
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
