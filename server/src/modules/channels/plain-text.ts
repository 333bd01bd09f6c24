/**
 * The plain text part of a mail that came without one, made from its HTML. Reads tag soup in one pass over the text,
 * so that no input takes more than its length; what people cannot see is left out, links keep their address.
 */

const HIDDEN = new Set(['head', 'style', 'script', 'title', 'template', 'noscript'])
const PARAGRAPHS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'blockquote', 'table', 'pre'])
const LINES = new Set(['div', 'tr', 'section', 'article', 'header', 'footer', 'main', 'address', 'li', 'dt', 'dd', 'figure', 'center'])

type Tag = { name: string; isEnd: boolean; attributes: string }
type Token = { text: string } | Tag

/** Plain text with `\n` between lines and at most one empty line in a row; words that are links are followed by `(address)`. */
export function plainTextOf(html: string): string {
  const text = new Text()
  let hidden: string | null = null
  let link: { href: string; from: number } | null = null
  for (const token of tokens(html)) {
    if (hidden !== null) {
      if ('name' in token && token.isEnd && token.name === hidden) hidden = null
    } else if ('text' in token) {
      text.words(decode(token.text))
    } else if (HIDDEN.has(token.name)) {
      if (!token.isEnd) hidden = token.name
    } else if (token.name === 'a') {
      if (link) text.address(link.href, link.from)
      link = token.isEnd ? null : { href: attribute(token, 'href'), from: text.length }
    } else {
      write(text, token)
    }
  }
  return text.toString()
}

function write(text: Text, tag: Tag): void {
  if (PARAGRAPHS.has(tag.name)) text.breakLine(2)
  else if (LINES.has(tag.name)) text.breakLine(1)
  else if (tag.name === 'br') text.newLine()
  else if (tag.name === 'td' || tag.name === 'th') text.words(' ')
  else if (tag.name === 'img') text.words(` ${attribute(tag, 'alt')} `)
  else if (tag.name === 'hr' && !tag.isEnd) text.rule()
  if (tag.name === 'li' && !tag.isEnd) text.words('- ')
}

/** Lines that are being written: white space collapses, breaks are only remembered until words follow. */
class Text {
  #written = ''
  #breaks = 0
  #space = false

  get length(): number {
    return this.#written.length
  }

  words(text: string): void {
    for (const part of text.split(/([ \t\r\n\f]+)/)) {
      if (part === '') continue
      if (/^[ \t\r\n\f]/.test(part)) this.#space = true
      else this.#put(part)
    }
  }

  breakLine(count: 1 | 2): void {
    this.#breaks = Math.max(this.#breaks, count)
  }

  newLine(): void {
    this.#breaks = Math.min(2, this.#breaks + 1)
  }

  rule(): void {
    this.breakLine(1)
    this.#put('---')
    this.breakLine(1)
  }

  /** The address of a link after its words, unless the words are the address already or there is nothing to visit. */
  address(href: string, from: number): void {
    if (!/^(?:https?|mailto|tel):/i.test(href)) return
    const words = this.#written.slice(from).trim()
    const bare = href.replace(/^(?:mailto|tel):/i, '')
    if (words === href || words === bare) return
    this.words(words === '' ? ` ${bare}` : ` (${bare})`)
  }

  #put(word: string): void {
    if (this.#written !== '') this.#written += this.#breaks > 0 ? '\n'.repeat(this.#breaks) : this.#space ? ' ' : ''
    this.#breaks = 0
    this.#space = false
    this.#written += word
  }

  toString(): string {
    return this.#written
  }
}

/** Texts and tags in order. An unfinished comment or tag hides the rest, as it does in a mail program. */
function* tokens(html: string): Generator<Token> {
  let at = 0
  while (at < html.length) {
    const open = nextTag(html, at)
    if (open > at) yield { text: html.slice(at, open) }
    if (open === html.length) return
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open + 4)
      at = end === -1 ? html.length : end + 3
      continue
    }
    const close = endOfTag(html, open)
    const tag = TAG.exec(html.slice(open, close))
    if (tag) yield { isEnd: tag[1] === '/', name: (tag[2] as string).toLowerCase(), attributes: tag[3] as string }
    at = close + 1
  }
}

const TAG = /^<(\/?)([a-z][a-z0-9:-]*)([\s\S]*)$/i

// A `<` that begins no tag is a character like any other.
function nextTag(html: string, from: number): number {
  for (let at = html.indexOf('<', from); at !== -1; at = html.indexOf('<', at + 1)) if (/[a-z/!?]/i.test(html[at + 1] ?? '')) return at
  return html.length
}

/** Where the `>` of a tag is; one inside quotes does not end it. */
function endOfTag(html: string, from: number): number {
  let quote = ''
  for (let at = from; at < html.length; at++) {
    const character = html[at] as string
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '>') return at
    else if ((character === '"' || character === "'") && html[at - 1] === '=') quote = character
  }
  return html.length
}

function attribute({ attributes }: Tag, name: string): string {
  const found = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(attributes)
  return decode(found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim()
}

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00A0',
  shy: '',
  zwnj: '',
  zwj: '',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  copy: '©',
  reg: '®',
  trade: '™',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  deg: '°',
  times: '×',
  rarr: '→',
  larr: '←',
}

/** Character references; one we do not know stays as it is. */
function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? ENTITIES[name.toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole
  })
}
