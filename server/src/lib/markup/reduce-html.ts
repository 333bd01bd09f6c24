/**
 * Reduces HTML to the parts that its plain text depends on, for a converter that supports neither Liquid nor hidden elements. Liquid
 * without output is moved to the word before it, so that the line breaks after it belong to its content: when a condition is false, its
 * line breaks are left out too.
 */
import { decodeHTML } from 'entities/decode'
import { type HtmlAttribute, type HtmlTag, readHtml } from './html-reader.ts'
import { withoutInvisible } from './invisible.ts'
import { addressOf, type Branch, type LinkAddress, roleOf, written } from './link-address.ts'
import { type MaskedText, piecesIn } from './liquid-mask.ts'

/** Elements that begin and end with line breaks, with their number. Two make an empty line. */
export const BLOCKS: ReadonlyMap<string, 1 | 2> = new Map([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'blockquote', 'table', 'pre'].map((name) => [name, 2] as const),
  ...['div', 'tr', 'section', 'article', 'header', 'footer', 'main', 'address', 'li', 'dt', 'dd', 'figure', 'center'].map(
    (name) => [name, 1] as const,
  ),
])

const HIDDEN = new Set(['head', 'style', 'script', 'title', 'template', 'noscript'])
/** Tags with output. They count as words, and are left out inside hidden elements. */
const WRITING = new Set(['echo', 'cycle', 'increment', 'decrement'])
const LOOPS = new Set(['for', 'tablerow'])
/** Elements without an end tag, and the elements that they end. Every block ends a paragraph. */
const ENDED_BY: Readonly<Record<string, string[]>> = { li: ['li'], tr: ['tr'], dt: ['dt', 'dd'], dd: ['dt', 'dd'] }
/** Elements that authors hide, such as a preheader of their own. */
const HIDEABLE = new Set(['div', 'span'])
const HIDDEN_STYLE = /(?:^|;) *display *: *none/i
/** Each branch of a condition may end the link before it. */
const ADDRESS_TIMES_MAX = 10
// The converter recurses for each nested element.
const DEPTH_MAX = 400

type Reduced = {
  html: string
  /** Liquid before the first word. */
  leading: string
  /** The placeholders of loops without an empty line after them, so that no empty line belongs between the repetitions. */
  tightLoops: ReadonlySet<string>
}

/** Reduces HTML to words, blocks and line breaks, with addresses after the words of links. */
export function reduceHtml(masked: MaskedText): Reduced {
  const reducer = new HtmlReducer(masked)
  let hidden: { name: string; depth: number } | null = null
  for (const token of readHtml(masked)) {
    const text = masked.text.slice(token.begin, token.end)
    if (hidden !== null) {
      if (token.kind === 'tag' && token.name === hidden.name && HIDEABLE.has(hidden.name)) hidden.depth += token.isEnd ? -1 : 1
      if (token.kind === 'tag' && endsHidden(hidden, token)) hidden = null
      else reducer.keepLiquid(text)
    } else if (token.kind === 'text') reducer.words(withoutInvisible(decodeHTML(text)))
    else if (token.kind === 'comment') reducer.keepLiquid(text)
    else if (!isHidden(token)) reducer.tag(token)
    else if (!token.isEnd) {
      hidden = { name: token.name, depth: 1 }
      if (HIDEABLE.has(token.name)) reducer.keepLiquid(text)
    }
  }
  reducer.endLink(false)
  return reducer
}

const isHidden = (tag: HtmlTag): boolean =>
  HIDDEN.has(tag.name) || (HIDEABLE.has(tag.name) && !tag.isEnd && HIDDEN_STYLE.test(attributeOf(tag, 'style')?.value ?? ''))

// The end tag of the head is optional.
const endsHidden = (hidden: { name: string; depth: number }, { name, isEnd }: HtmlTag): boolean =>
  HIDEABLE.has(hidden.name) ? hidden.depth === 0 : (isEnd && name === hidden.name) || (hidden.name === 'head' && name === 'body' && !isEnd)

/** An open element: its index in `#waiting`, and the number of words before it. */
type Open = { name: string; at: number; words: number }

/** The link that the words belong to: its address, what was written since, and how often its address was. */
type Link = { address: LinkAddress; words: number; text: string; times: number }

/** A condition that is not closed, with the link before it. Each branch may open the link that follows the condition. */
type Condition = { before: Link | null; branches: { tag: string; name: string; link: Link | null }[] }

class HtmlReducer implements Reduced {
  html = ''
  leading = ''
  readonly tightLoops = new Set<string>()
  /** Tags and white space since the last word. */
  #waiting: string[] = []
  /** The line breaks of empty elements since the last word. They count only without other line breaks. */
  #emptyBreaks = 0
  #words = 0
  #loop: { placeholder: string; at: number } | null = null
  readonly #open: Open[] = []
  #link: Link | null = null
  readonly #conditions: Condition[] = []
  readonly #masked: MaskedText
  /** Equal outputs get the same placeholder, so that a link can be compared with its text. */
  readonly #outputs = new Map<string, string>()
  readonly #splitting: RegExp
  readonly #splittingAtLiquid: RegExp

  constructor(masked: MaskedText) {
    this.#masked = masked
    const liquid = masked.placeholder.source.replace(/[()]/g, '')
    this.#splitting = new RegExp(`([ \\t\\r\\n\\f]+|${liquid})`)
    this.#splittingAtLiquid = new RegExp(`(${liquid})`)
  }

  /** Adds text. */
  words(text: string): void {
    for (const part of text.split(this.#splitting)) {
      if (part === '') continue
      if (/^[ \t\r\n\f]/.test(part)) this.#waiting.push(part)
      else if (isSpace(part)) this.#waiting.push(' ')
      else if (typeof this.#nameOf(part) === 'string') this.#keep(part)
      else this.#write(this.#withEqualOutputs(part))
    }
  }

  /** Keeps the Liquid without output, and none of the words. */
  keepLiquid(text: string): void {
    for (const [placeholder] of text.matchAll(this.#masked.placeholder)) {
      if (typeof this.#nameOf(placeholder) === 'string') this.#keep(placeholder)
    }
  }

  tag(tag: HtmlTag): void {
    const { name, isEnd } = tag
    if (name === 'a') {
      this.#anchor(tag)
      return
    }
    if (BLOCKS.has(name)) isEnd ? this.#close(name) : this.#openBlock(name)
    else if (name === 'br') this.#waiting.push('<br>')
    else if (name === 'hr') this.#rule()
    else if (name === 'td' || name === 'th') this.#waiting.push(' ')
    else if (name === 'img') this.words(` ${withoutInvisible(attributeOf(tag, 'alt')?.value ?? '')} `)
    // The shown attribute was handled above. Keep the Liquid of the rest of the tag.
    const shown = attributeOf(tag, name === 'img' ? 'alt' : '') ?? { begin: tag.end, end: tag.end }
    this.keepLiquid(this.#masked.text.slice(tag.begin, shown.begin))
    this.keepLiquid(this.#masked.text.slice(shown.end, tag.end))
  }

  /** A link ends where another begins. In a tag, each branch of a condition may have an address. */
  #anchor(tag: HtmlTag): void {
    this.endLink(!tag.isEnd)
    let at = tag.begin
    for (const { name, value, begin, end } of tag.attributes) {
      if (name !== 'href' || tag.isEnd) continue
      this.keepLiquid(this.#masked.text.slice(at, begin))
      const address = addressOf(this.#withEqualOutputs(value.trim()).split(this.#splittingAtLiquid), (part) => this.#nameOf(part))
      if (address !== null) this.#link ??= { address, words: this.#words, text: '', times: 0 }
      at = end
    }
    this.keepLiquid(this.#masked.text.slice(at, tag.end))
  }

  /** Writes the address of the open link. The next word follows it at once where the link was cut. */
  endLink(isCut: boolean): void {
    const link = this.#link
    if (!link) return
    this.#link = null
    if (link.times++ >= ADDRESS_TIMES_MAX) return
    if (isCut && this.#waiting.every((tag) => tag.trim() === '')) this.#waiting = []
    if (link.words === this.#words) this.words(written(link.address, 'alone'))
    else if (link.text !== link.address) this.html += encodedText(written(link.address, 'after words'))
  }

  #openBlock(name: string): void {
    const parent = this.#open.at(-1)?.name ?? ''
    if (parent === 'p' || ENDED_BY[name]?.includes(parent)) this.#close(parent)
    if (this.#open.length >= DEPTH_MAX) this.#break(name)
    else this.#push(name, `<${name}>`)
    // The dash of an item counts as a word.
    if (name === 'li') this.#put('')
  }

  #push(name: string, tag: string): void {
    this.#open.push({ name, at: this.#waiting.length, words: this.#words })
    this.#waiting.push(tag)
  }

  // The converter would turn an empty element into a line.
  #close(name: string): void {
    const index = this.#open.findLastIndex((open) => open.name === name)
    const open = this.#open[index]
    if (open) this.#open.length = index
    if (!open) {
      this.#break(name)
    } else if (open.words < this.#words) {
      this.#waiting.push(`</${name}>`)
    } else {
      this.#waiting.length = open.at
      this.#emptyBreaks = Math.max(this.#emptyBreaks, BLOCKS.get(name) ?? 0)
    }
  }

  #break(name: string): void {
    this.#waiting.push(...Array<string>(BLOCKS.get(name) ?? 0).fill('<br>'))
  }

  #rule(): void {
    this.#waiting.push('<div>')
    this.#put('---')
    this.#waiting.push('</div>')
  }

  /** Writes a word. */
  #write(text: string): void {
    this.#put(encodedText(text))
    if (this.#link) this.#link.text += text
  }

  #put(html: string): void {
    if (this.#loop && lineBreaksIn(this.#waiting.slice(this.#loop.at)) < 2) this.tightLoops.add(this.#loop.placeholder)
    if (lineBreaksIn(this.#waiting) === 0) this.#waiting.push('<br>'.repeat(this.#emptyBreaks))
    this.html += this.#waiting.join('') + html
    this.#waiting = []
    this.#emptyBreaks = 0
    this.#loop = null
    this.#words++
  }

  #keep(placeholder: string): void {
    if (this.#words === 0) this.leading += placeholder
    else this.html += placeholder
    const name = this.#nameOf(placeholder) ?? ''
    if (LOOPS.has(name)) this.#loop = { placeholder, at: this.#waiting.length }
    this.#branch(placeholder, name)
  }

  /** Finds the link after a condition: another one where its branches opened links, and none where they ended it. */
  #branch(tag: string, name: string): void {
    const role = roleOf(name)
    if (role === 'begin') this.#conditions.push({ before: this.#link, branches: [{ tag, name, link: null }] })
    const condition = this.#conditions.at(-1)
    if (!condition || role === null || role === 'begin') return
    const branch = condition.branches.at(-1)
    if (branch) branch.link = this.#link
    this.#link = condition.before
    if (role === 'alternative') condition.branches.push({ tag, name, link: null })
    else {
      this.#conditions.pop()
      this.#link = after(condition, tag, this.#words)
    }
  }

  #nameOf(part: string): string | null | undefined {
    const [number] = piecesIn(this.#masked, part)
    const piece = number === undefined ? undefined : this.#masked.pieces[number]
    return piece?.name != null && WRITING.has(piece.name) ? null : piece?.name
  }

  #withEqualOutputs(text: string): string {
    return text.replace(this.#masked.placeholder, (placeholder, number: string) => {
      const piece = this.#masked.pieces[Number(number)]
      if (piece?.name !== null) return placeholder
      const first = this.#outputs.get(piece.text) ?? placeholder
      this.#outputs.set(piece.text, first)
      return first
    })
  }
}

/**
 * The link after a condition. A branch that opened a link, and did not end it, gives its address to what follows. The link before is
 * that of no branch then, so that each address is in one link only.
 */
function after({ before, branches }: Condition, end: string, words: number): Link | null {
  if (branches.every(({ link }) => link === before)) return before
  const opened = branches.map(({ tag, name, link }): Branch => ({ tag, name, address: link === before ? null : (link?.address ?? null) }))
  if (opened.every(({ address }) => address === null)) return null
  const hasWords = branches.some(({ link }) => link !== null && link !== before && link.words < words)
  return { address: { branches: opened, end }, words: hasWords ? -1 : words, text: '', times: 0 }
}

/** Is it only spaces that do not break, with which authors fill empty elements? */
const isSpace = (text: string): boolean => /^[\u00A0\u2007\u202F]+$/.test(text)

/** The number of line breaks that the converter makes of tags without words. Those of `br` add up, those of blocks do not. */
function lineBreaksIn(tags: string[]): number {
  let [added, most] = [0, 0]
  for (const tag of tags) {
    if (tag === '<br>') added++
    else most = Math.max(most, BLOCKS.get(/^<\/?(\w+)/.exec(tag)?.[1] ?? '') ?? 0)
  }
  return Math.max(added, most)
}

const attributeOf = ({ attributes }: HtmlTag, name: string): HtmlAttribute | undefined =>
  attributes.find((attribute) => attribute.name === name)

const encodedText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
