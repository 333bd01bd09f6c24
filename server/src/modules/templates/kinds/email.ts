import { Type } from 'typebox'
import { isEmail } from '../../../lib/email.ts'
import type { Fault } from '../../../lib/errors.ts'
import { hasLiquid } from '../../../lib/liquid/liquid.ts'
import { Exact, Line } from '../../../lib/shapes.ts'
import { compileEmail } from '../compile-email.ts'
import { common, templateKind } from './template.ts'

const HTML_LENGTH_MAX = 500_000
/** Compiling takes most of a second at this length. */
const MJML_LENGTH_MAX = 100_000

const Addresses = (description: string) => Type.Optional(Line(1000, { format: 'no-control', description }))

export const email = templateKind({
  shape: Exact({
    from: Addresses('The sender, such as `Ana <ana@example.com>`.'),
    reply_to: Addresses('The address for replies.'),
    cc: Addresses('Addresses, separated by commas.'),
    bcc: Addresses('Addresses, separated by commas.'),
    subject: Line(998, { format: 'no-control' }),
    preheader: Type.Optional(Type.String({ maxLength: 998, description: 'The text that mail programs show beside the subject.' })),
    html: Type.Optional(Type.String({ notBlank: true, maxLength: HTML_LENGTH_MAX })),
    mjml: Type.Optional(
      Type.String({
        notBlank: true,
        maxLength: MJML_LENGTH_MAX,
        description: 'The body in MJML 5, instead of `html`. `mj-include` is not allowed.',
      }),
    ),
    text: Type.Optional(
      Type.String({ maxLength: HTML_LENGTH_MAX, description: 'The plain text part. By default, it is generated from the HTML.' }),
    ),
    ...common,
  }),
  html: ['html'],
  mailboxes: { from: 'one', reply_to: 'list', cc: 'list', bcc: 'list' },
  check: ({ html, mjml, from, reply_to, cc, bcc }) => [
    ...bodyFaults(html, mjml),
    ...addressFaults('from', from, (text) => [text]),
    ...addressFaults('reply_to', reply_to, (text) => [text]),
    ...addressFaults('cc', cc, splitAddresses),
    ...addressFaults('bcc', bcc, splitAddresses),
  ],
  compile: compileEmail,
  measure: ({ html }) => ({ size_bytes: Buffer.byteLength(String(html)) }),
  sample: {
    from: 'Ana <ana@example.com>',
    reply_to: 'help@example.com',
    cc: '"Doe, Jane" <jane@example.com>, bob@example.com',
    bcc: '{{ user.data.manager }}',
    subject: 'Hi {{ user.data.name }}',
    preheader: 'News',
    html: '<p>{{ user.data.name }}</p>',
    text: 'Hi',
    required: ['user.data.name'],
  },
})

function bodyFaults(html: string | undefined, mjml: string | undefined): Fault[] {
  if (html === undefined && mjml === undefined)
    return [{ code: 'parameter_missing', param: 'html', message: 'The email needs a body. Set either `html` or `mjml`.' }]
  if (html === undefined || mjml === undefined) return []
  return [{ code: 'validation_failed', param: 'mjml', message: 'Set either `html` or `mjml`, not both.' }]
}

function addressFaults(param: string, text: string | undefined, split: (text: string) => string[]): Fault[] {
  if (text === undefined || hasLiquid(text) || split(text).every(isMailbox)) return []
  const message = `The value of \`${param}\` must be an email address, such as \`ana@example.com\` or \`Ana <ana@example.com>\`.`
  return [{ code: 'parameter_invalid_format', param, message }]
}

/** Whether this is an email address, with or without a display name, which is put into quotes when a message is composed. */
export function isMailbox(text: string): boolean {
  const mailbox = text.trim()
  const open = mailbox.endsWith('>') ? mailbox.lastIndexOf('<') : -1
  if (open === -1) return isEmail(mailbox)
  return /^(?:"[^"]*"|[^"<>@]*)$/.test(mailbox.slice(0, open).trim()) && isEmail(mailbox.slice(open + 1, -1))
}

/** Splits addresses at commas outside quoted display names. */
export function splitAddresses(text: string): string[] {
  // Every second piece between quotes is quoted.
  const addresses = ['']
  for (const [index, piece] of text.split('"').entries()) {
    const [first = '', ...others] = index % 2 === 0 ? piece.split(',') : [piece]
    addresses[addresses.length - 1] += `${index === 0 ? '' : '"'}${first}`
    addresses.push(...others)
  }
  return addresses
}
