/**
 * The plain text part of a mail that came without one, made from its HTML. What people cannot see is left out, links keep
 * their address. Liquid stays what it was, so that the text is made once and filled in for everybody: outputs stand where
 * they stood, and every `{% … %}` is kept, also out of comments and attributes, because what it decides goes for the text too.
 */
import { hasLiquid, LiquidError, parseTemplate } from '../../../lib/liquid.ts'
import { attributeOf, decode, htmlTokens, type Tag } from './html-tokens.ts'
import { maskLiquid, type Shielded } from './liquid-mask.ts'

const HIDDEN = new Set(['head', 'style', 'script', 'title', 'template', 'noscript'])
const PARAGRAPHS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'blockquote', 'table', 'pre'])
const LINES = new Set(['div', 'tr', 'section', 'article', 'header', 'footer', 'main', 'address', 'li', 'dt', 'dd', 'figure', 'center'])
/** Tags that write something, which nobody should see where the HTML hides it. */
const WRITING = new Set(['echo', 'cycle', 'increment', 'decrement'])
const LOOPS = new Set(['for', 'tablerow'])

/**
 * Plain text with `\n` between lines and at most one empty line in a row; words that are links are followed by `(address)`.
 * `html` must be Liquid, and so is the answer.
 */
export function plainTextOf(html: string): string {
  const text = written(html)
  if (!hasLiquid(html) || isLiquid(text)) return text
  // Half of a condition stood in the address of a link that was left out: better all of the text than none.
  const { text: shielded, mark, tags, restore } = maskLiquid(html)
  return written(restore(shielded.replace(mark, (word, number: string) => (tags[Number(number)]?.name === null ? word : ''))))
}

function isLiquid(text: string): boolean {
  try {
    parseTemplate(text, { escape: false })
    return true
  } catch (error) {
    if (error instanceof LiquidError) return false
    throw error
  }
}

function written(html: string): string {
  const shielded = maskLiquid(html)
  const text = new Text(shielded)
  let hidden: string | null = null
  let link: { href: string; from: number } | null = null
  for (const token of htmlTokens(shielded.text)) {
    if (hidden !== null) {
      if (token.kind === 'tag' && token.isEnd && token.name === hidden) hidden = null
      else text.keepTags(shielded.text.slice(token.begin, token.end))
    } else if (token.kind === 'text') {
      text.words(decode(token.text))
    } else if (token.kind === 'comment') {
      text.keepTags(token.text)
    } else if (HIDDEN.has(token.name)) {
      if (!token.isEnd) hidden = token.name
    } else if (token.name === 'a') {
      if (link) text.address(link.href, link.from)
      link = token.isEnd ? null : { href: attributeText(token, 'href'), from: text.length }
      text.keepTags(token.attributes.replace(attributeOf(token, 'href') ?? '', ''))
    } else {
      write(text, token)
    }
  }
  return shielded.restore(text.toString())
}

function write(text: Text, tag: Tag): void {
  if (PARAGRAPHS.has(tag.name)) text.breakLine(2)
  else if (LINES.has(tag.name)) text.breakLine(1)
  else if (tag.name === 'br') text.newLine()
  else if (tag.name === 'td' || tag.name === 'th') text.words(' ')
  else if (tag.name === 'img') text.words(` ${attributeText(tag, 'alt')} `)
  else if (tag.name === 'hr' && !tag.isEnd) text.rule()
  text.keepTags(tag.name === 'img' ? tag.attributes.replace(attributeOf(tag, 'alt') ?? '', '') : tag.attributes)
  if (tag.name === 'li' && !tag.isEnd) text.words('- ')
}

const attributeText = (tag: Tag, name: string): string => decode(attributeOf(tag, name) ?? '').trim()

/** Lines that are being written: white space collapses, breaks are only remembered until words follow. */
class Text {
  readonly #shielded: Shielded
  readonly #splitting: RegExp
  #written = ''
  #hasWords = false
  #breaks = 0
  #space = false

  constructor(shielded: Shielded) {
    this.#shielded = shielded
    this.#splitting = new RegExp(`([ \\t\\r\\n\\f]+|${shielded.mark.source.replace(/[()]/g, '')})`)
  }

  get length(): number {
    return this.#written.length
  }

  words(text: string): void {
    for (const part of text.split(this.#splitting)) {
      if (part === '') continue
      if (/^[ \t\r\n\f]/.test(part)) this.#space = true
      else if (this.#nameOf(part) !== null) this.#keep(part)
      else this.#put(part)
    }
  }

  /** Keeps the tags that decide or remember something, and none of the words. */
  keepTags(text: string): void {
    for (const [mark] of text.matchAll(this.#shielded.mark)) {
      const name = this.#nameOf(mark)
      if (name !== null && !WRITING.has(name)) this.#keep(mark)
    }
  }

  /** The name of the tag that this is the mark of; null for outputs and words. */
  #nameOf(part: string): string | null {
    const [found] = part.matchAll(this.#shielded.mark)
    return found ? (this.#shielded.tags[Number(found[1])]?.name ?? null) : null
  }

  // Breaks wait for the words behind the tag, so that none are left where a condition leaves the words out. What a loop begins
  // with stands behind each turn: of an empty line before the loop, half is written before it.
  #keep(mark: string): void {
    if (this.#breaks === 2 && this.#hasWords && LOOPS.has(this.#nameOf(mark) ?? '')) {
      this.#written += '\n'
      this.#breaks = 1
    }
    this.#written += mark
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
    if (!/^(?:https?|mailto|tel):/i.test(href) && href.search(this.#shielded.mark) !== 0) return
    const words = this.#written.slice(from).trim()
    const bare = href.replace(/^(?:mailto|tel):/i, '')
    const { restore } = this.#shielded
    if ([href, bare].some((address) => restore(words) === restore(address))) return
    this.words(words === '' ? ` ${bare}` : ` (${bare})`)
  }

  #put(word: string): void {
    if (this.#hasWords) this.#written += this.#breaks > 0 ? '\n'.repeat(this.#breaks) : this.#space ? ' ' : ''
    this.#hasWords = true
    this.#breaks = 0
    this.#space = false
    this.#written += word
  }

  toString(): string {
    return this.#written
  }
}
