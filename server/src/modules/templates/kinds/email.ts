import { Type } from 'typebox'
import { isEmail } from '../../../lib/email.ts'
import type { Fault } from '../../../lib/errors.ts'
import { hasLiquid } from '../../../lib/liquid.ts'
import { Exact, Line } from '../../../lib/shapes.ts'
import { compileEmail } from '../compile-email.ts'
import { common, templateKind } from './template.ts'

const HTML_LENGTH_MAX = 500_000
/** Compiling holds up everybody else, for a second or two at this length. */
const MJML_LENGTH_MAX = 100_000

const Addresses = (description: string) => Type.Optional(Line(1000, { format: 'no-control', description }))

export const email = templateKind({
  shape: Exact({
    from: Addresses('Who it is from, such as `Ana <ana@example.com>`.'),
    reply_to: Addresses('Where answers go.'),
    cc: Addresses('Addresses with commas between them.'),
    bcc: Addresses('Addresses with commas between them.'),
    subject: Line(998, { format: 'no-control' }),
    preheader: Type.Optional(Type.String({ maxLength: 998, description: 'The text that mail programs show beside the subject.' })),
    html: Type.Optional(Type.String({ notBlank: true, maxLength: HTML_LENGTH_MAX })),
    mjml: Type.Optional(
      Type.String({ notBlank: true, maxLength: MJML_LENGTH_MAX, description: 'In place of `html`: MJML 5 without `mj-include`.' }),
    ),
    text: Type.Optional(Type.String({ maxLength: HTML_LENGTH_MAX, description: 'Made from the HTML when absent.' })),
    ...common,
  }),
  html: ['html'],
  check: ({ html, mjml, from, reply_to, cc, bcc }) => [
    ...bodyFaults(html, mjml),
    ...addressFaults('from', from, (text) => [text]),
    ...addressFaults('reply_to', reply_to, (text) => [text]),
    ...addressFaults('cc', cc, splitAddresses),
    ...addressFaults('bcc', bcc, splitAddresses),
  ],
  compile: compileEmail,
})

function bodyFaults(html: string | undefined, mjml: string | undefined): Fault[] {
  if (html === undefined && mjml === undefined)
    return [{ code: 'parameter_missing', param: 'html', message: 'Give the mail a body: either `html` or `mjml`.' }]
  if (html === undefined || mjml === undefined) return []
  return [{ code: 'validation_failed', param: 'mjml', message: 'Give either `html` or `mjml`, not both.' }]
}

function addressFaults(param: string, text: string | undefined, split: (text: string) => string[]): Fault[] {
  if (text === undefined || hasLiquid(text) || split(text).every(isMailbox)) return []
  const message = `The value of \`${param}\` is not an email address; write it like \`ana@example.com\` or \`Ana <ana@example.com>\`.`
  return [{ code: 'parameter_invalid_format', param, message }]
}

/** Is this an address, alone or with a display name before it? */
export function isMailbox(text: string): boolean {
  const named = /^(?:"[^"]*"|[^"<>,;:@]*)\s*<([^<>]*)>$/.exec(text.trim())
  return isEmail(named?.[1] ?? text.trim())
}

/** At commas that are not inside a quoted display name. */
export const splitAddresses = (text: string): string[] => text.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
