/** The kinds of blocks: their fields, and the MJML that each is written as. A new kind is a line here and its texts. */
import type { ENCODINGS } from './markup.ts'

export type BlockKind = {
  fields: Record<string, keyof typeof ENCODINGS>
  start: Record<string, string>
  /** `$name` is the place of a field. Where a field of the first one is empty, the last one is written. */
  mjml: [string, ...string[]]
}

const UNSUBSCRIBE = '<a href="{{ unsubscribe_url }}">$label</a>'

export const KINDS = {
  heading: {
    fields: { text: 'text' },
    start: { text: '' },
    mjml: ['<mj-text css-class="heading" font-size="24px"><h1>$text</h1></mj-text>'],
  },
  text: { fields: { text: 'text' }, start: { text: '' }, mjml: ['<mj-text font-size="16px" line-height="24px">$text</mj-text>'] },
  image: {
    fields: { src: 'address', alt: 'line', href: 'address' },
    start: { src: '', alt: '', href: '' },
    mjml: ['<mj-image src="$src" alt="$alt" href="$href" />', '<mj-image src="$src" alt="$alt" />'],
  },
  button: {
    fields: { text: 'line', href: 'address' },
    start: { text: '', href: 'https://' },
    mjml: ['<mj-button href="$href" font-size="16px">$text</mj-button>'],
  },
  divider: { fields: {}, start: {}, mjml: ['<mj-divider border-width="1px" border-color="#c9ced6" />'] },
  spacer: { fields: { height: 'pixels' }, start: { height: '24' }, mjml: ['<mj-spacer height="$heightpx" />'] },
  social: {
    fields: { text: 'text' },
    start: { text: '' },
    mjml: ['<mj-text css-class="social" align="center" font-size="14px">$text</mj-text>'],
  },
  html: { fields: { html: 'html' }, start: { html: '' }, mjml: ['<mj-text css-class="html">$html</mj-text>'] },
  footer: {
    fields: { text: 'text', label: 'line' },
    start: { text: '', label: 'Unsubscribe' },
    mjml: [`<mj-text css-class="footer" align="center" font-size="14px">$text<br />${UNSUBSCRIBE}</mj-text>`],
  },
} satisfies Record<string, BlockKind>

export type KindName = keyof typeof KINDS

export const kindOf = (name: KindName): BlockKind => KINDS[name]
