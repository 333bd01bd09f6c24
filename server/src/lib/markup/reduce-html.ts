/**
 * Reduces HTML to the parts that its plain text depends on, for a converter that supports neither Liquid nor hidden elements. Liquid
 * without output is moved to the word before it, so that the line breaks after it belong to its content: when a condition is false, its
 * line breaks are left out too.
 */
import { encodeAttribute } from './attribute-text.ts'
import { type HtmlAttribute, type HtmlTag, readHtml } from './html-reader.ts'
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
/** References to invisible characters. */
const INVISIBLE = /&(?:shy|zwnj|zwj);/gi
// The converter recurses for each nested element.
const DEPTH_MAX = 400

type Reduced = {
  html: string
  /** Liquid before the first word. */
  leading: string
  /** The placeholders of loops without an empty line after them, so that no empty line belongs between the repetitions. */
  tightLoops: ReadonlySet<string>
}

/** Reduces HTML to words, blocks, line breaks and links. */
export function reduceHtml(masked: MaskedText): Reduced {
  const reducer = new HtmlReducer(masked)
  let hidden: string | null = null
  for (const token of readHtml(masked)) {
    const text = masked.text.slice(token.begin, token.end)
    if (hidden !== null) {
      if (token.kind === 'tag' && endsHidden(hidden, token)) hidden = null
      else reducer.keepLiquid(text)
    } else if (token.kind === 'text') reducer.words(text.replace(INVISIBLE, ''))
    else if (token.kind === 'comment') reducer.keepLiquid(text)
    else if (!HIDDEN.has(token.name)) reducer.tag(token)
    else if (!token.isEnd) hidden = token.name
  }
  return reducer
}

// The end tag of the head is optional.
const endsHidden = (hidden: string, { name, isEnd }: HtmlTag): boolean =>
  (isEnd && name === hidden) || (hidden === 'head' && name === 'body' && !isEnd)

/** An open element: its index in `#waiting`, and the number of words before it. */
type Open = { name: string; at: number; words: number }

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
  readonly #masked: MaskedText
  /** Equal outputs get the same placeholder, so that a link can be compared with its text. */
  readonly #outputs = new Map<string, string>()
  readonly #splitting: RegExp

  constructor(masked: MaskedText) {
    this.#masked = masked
    this.#splitting = new RegExp(`([ \\t\\r\\n\\f]+|${masked.placeholder.source.replace(/[()]/g, '')})`)
  }

  /** Adds HTML without tags. */
  words(html: string): void {
    for (const part of html.split(this.#splitting)) {
      if (part === '') continue
      if (/^[ \t\r\n\f]/.test(part)) this.#waiting.push(part)
      else if (this.#controlName(part) !== null) this.#keep(part)
      else this.#put(this.#withEqualOutputs(part).replaceAll('<', '&lt;'))
    }
  }

  /** Keeps the Liquid without output, and none of the words. */
  keepLiquid(text: string): void {
    for (const [placeholder] of text.matchAll(this.#masked.placeholder)) {
      if (this.#controlName(placeholder) !== null) this.#keep(placeholder)
    }
  }

  tag(tag: HtmlTag): void {
    const { name, isEnd } = tag
    if (name === 'a') this.#link(tag)
    else if (BLOCKS.has(name)) isEnd ? this.#close(name) : this.#openBlock(name)
    else if (name === 'br') this.#waiting.push('<br>')
    else if (name === 'hr') this.#rule()
    else if (name === 'td' || name === 'th') this.#waiting.push(' ')
    else if (name === 'img') this.words(` ${encodedText(attributeOf(tag, 'alt')?.value ?? '')} `)
    // The shown attribute was handled above. Keep the Liquid of the rest of the tag.
    const shown = attributeOf(tag, name === 'a' ? 'href' : name === 'img' ? 'alt' : '') ?? { begin: tag.end, end: tag.end }
    this.keepLiquid(this.#masked.text.slice(tag.begin, shown.begin))
    this.keepLiquid(this.#masked.text.slice(shown.end, tag.end))
  }

  #link(tag: HtmlTag): void {
    const at = this.#open.findLastIndex(({ name }) => name === 'a')
    if (at !== -1) {
      this.#open.length = at
      this.#put('</a>')
    }
    const href = (attributeOf(tag, 'href')?.value ?? '').trim()
    // Other addresses cannot be opened from plain text.
    const isShown = /^(?:https?|mailto|tel):/i.test(href) || href.search(this.#masked.placeholder) === 0
    if (tag.isEnd || !isShown || this.#open.length >= DEPTH_MAX) return
    this.#push('a', `<a href="${encodeAttribute(this.#withEqualOutputs(href.replace(/^(?:mailto|tel):/i, '')))}">`)
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
    if (LOOPS.has(this.#controlName(placeholder) ?? '')) this.#loop = { placeholder, at: this.#waiting.length }
  }

  /** The name of the Liquid tag of a placeholder; null if it has output. */
  #controlName(part: string): string | null {
    const [number = -1] = piecesIn(this.#masked, part)
    const name = this.#masked.pieces[number]?.name ?? null
    return name === null || WRITING.has(name) ? null : name
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
