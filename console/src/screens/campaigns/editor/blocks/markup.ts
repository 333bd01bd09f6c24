/** How the texts of blocks are written in MJML, and read from it. Liquid stays as it was typed. Pure. */

/** Liquid that is complete. One that is still being typed ends at the next Liquid, or with its element, and is text. */
const LIQUID = /\{\{(?:(?!\{\{|\{%|<\/mj-)[^\uE000-\uF8FF])*?\}\}|\{%(?:(?!\{\{|\{%|<\/mj-)[^\uE000-\uF8FF])*?%\}/g
/** Characters that stand for Liquid while a text is read or written. No text needs them. */
const STAND_INS = /[\uE000-\uF8FF]/g
const FIRST_STAND_IN = 0xe000
/** As many as there are characters to stand for it. The rest is text. */
const LIQUID_MAX = 6400

export type Masked = { text: string; unmask: (part: string) => string }

/** Puts one character in the place of each Liquid, so that what it contains is not read as markup. */
export function mask(text: string): Masked {
  const liquid: string[] = []
  const masked = text.replaceAll(STAND_INS, '').replaceAll(LIQUID, (found) => {
    if (liquid.length === LIQUID_MAX) return found
    liquid.push(found)
    return String.fromCharCode(FIRST_STAND_IN + liquid.length - 1)
  })
  return { text: masked, unmask: (part) => part.replaceAll(STAND_INS, (one) => liquid[one.charCodeAt(0) - FIRST_STAND_IN] ?? '') }
}

/** A way to write a value: what it looks like, how it gets there and back, both without Liquid. */
type Encoding = { source: string; write: (value: string) => string; read: (written: string) => string }

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&amp;', '&')

const BOLD = /\*\*([^*\n]+)\*\*/g
const LINK = /\[([^[\]\n]+)\]\(([^()\s]+)\)/g
const SCRIPTS = /^[\s\p{Cc}]*(?:javascript|vbscript|data):/iu

/** An address, unless it would run a script. */
const address = (value: string) => (SCRIPTS.test(value) ? '' : value.replaceAll('\n', ''))

/** Each kind of value that a block has. */
export const ENCODINGS = {
  /** One line. */
  line: { source: '[^<>"]*', write: (value) => escaped(value.replaceAll('\n', ' ')), read: unescaped },
  /** An address of a link or an image. */
  address: { source: '[^<>"]*', write: (value) => escaped(address(value)), read: unescaped },
  /** A number of pixels. */
  pixels: { source: '\\d{1,3}', write: (value) => (/^\d{1,3}$/.test(value) ? value : '0'), read: (written) => written },
  /** Lines of text with `**bold**` and `[links](https://example.com)`. */
  text: {
    source: '(?:(?!</mj-)[\\s\\S])*?',
    write: (value) =>
      escaped(value)
        .replaceAll(LINK, (whole, label: string, to: string) => (SCRIPTS.test(to) ? whole : `<a href="${to}">${label}</a>`))
        .replaceAll(BOLD, '<strong>$1</strong>')
        .replaceAll('\n', '<br />'),
    read: (written) =>
      unescaped(
        written
          .replaceAll('<br />', '\n')
          .replaceAll(/<\/?strong>/g, '**')
          .replaceAll(/<a href="([^"]*)">([^<]*)<\/a>/g, '[$2]($1)'),
      ),
  },
  /** HTML as it is, without scripts. */
  html: {
    source: '(?:(?!</mj-)[\\s\\S])*?',
    write: (value) => value.replaceAll(/<(?=\/?(?:script|mj-|mjml))/gi, '&lt;'),
    read: (written) => written,
  },
} satisfies Record<string, Encoding>

/** The text of MJML, without its tags. Liquid stays as it is. */
export function plainOf(mjml: string): string {
  const { text, unmask } = mask(mjml)
  const said = unescaped(text.replaceAll('<br />', '\n').replaceAll(/<[^<>]*>/g, ''))
  return unmask(
    said
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join('\n'),
  )
}
