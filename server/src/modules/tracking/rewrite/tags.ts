/**
 * Reads HTML as a browser does (WHATWG HTML, 13.2.5), as far as is needed to find tags and their attributes, with Liquid
 * anywhere in it. Conditional comments count as markup, because Outlook reads what is in them.
 */
import { liquidSpans } from './liquid-spans.ts'

/** An attribute and where it stands. The value is the text between `valueFrom` and `valueTo`, without quotes. */
export type Attribute = { name: string; from: number; to: number; valueFrom: number; valueTo: number; quote: '"' | "'" | '' }

export type StartTag = { name: string; attributes: Attribute[] }

const SPACE = /[\t\n\f\r ]/
// Bounded, so that many that nobody closes do not each cost the rest of the text.
const CONDITION = /<!--\[if\b[^\]]{0,200}\]>/iy
const LETTER = /[a-zA-Z]/

/** Elements whose content is text. */
const TEXT_ELEMENTS = new Set(['script', 'style', 'title', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes'])

/** Every start tag that is complete, in order. */
export function* startTags(html: string): Generator<StartTag> {
  const liquid = liquidSpans(html)
  let at = nextTag(html, liquid, 0)
  while (at < html.length) {
    const tag = readTag(html, liquid, at)
    if (tag.name !== '') yield { name: tag.name, attributes: tag.attributes }
    if (tag.name === 'plaintext') return
    const end = TEXT_ELEMENTS.has(tag.name) ? endOfText(html, liquid, tag.name, tag.end) : tag.end
    at = nextTag(html, liquid, end)
  }
}

type Liquid = ReturnType<typeof liquidSpans>
type Tag = StartTag & { end: number }

/** Where the first character is, from `from` on and outside of Liquid, that `stops` says yes to; the length when there is none. */
function seek(html: string, liquid: Liquid, from: number, stops: (character: string, at: number) => boolean): number {
  let at = from
  while (at < html.length) {
    const end = html[at] === '{' ? liquid(at) : -1
    if (end >= 0) at = end
    else if (stops(html[at] as string, at)) return at
    else at++
  }
  return html.length
}

/** Where the next `<` is that begins a tag. Comments and declarations are passed over. */
function nextTag(html: string, liquid: Liquid, from: number): number {
  let at = from
  while (at < html.length) {
    at = seek(html, liquid, at, (character) => character === '<')
    const following = html[at + 1] ?? ''
    if (LETTER.test(following) || (following === '/' && LETTER.test(html[at + 2] ?? ''))) return at
    if (following === '!' || following === '?' || following === '/') at = endOfDeclaration(html, liquid, at)
    else at++
  }
  return html.length
}

function endOfDeclaration(html: string, liquid: Liquid, at: number): number {
  if (!html.startsWith('<!--', at)) return seek(html, liquid, at + 2, (character) => character === '>') + 1
  CONDITION.lastIndex = at
  if (CONDITION.test(html)) return CONDITION.lastIndex
  if (html.startsWith('>', at + 4)) return at + 5
  if (html.startsWith('->', at + 4)) return at + 6
  const close = seek(html, liquid, at + 4, (_, at) => html.startsWith('-->', at) || html.startsWith('--!>', at))
  return html.indexOf('>', close) + 1 || html.length
}

/** Reads the tag that begins at `from`. One that the text ends within, or that ends an element, has no name. */
function readTag(html: string, liquid: Liquid, from: number): Tag {
  const isEnd = html[from + 1] === '/'
  const nameFrom = from + (isEnd ? 2 : 1)
  let at = seekName(html, liquid, nameFrom)
  const name = isEnd ? '' : html.slice(nameFrom, at).toLowerCase()
  const attributes: Attribute[] = []
  while (at < html.length) {
    const character = html[at] as string
    const end = character === '{' ? liquid(at) : -1
    if (character === '>') return { name, attributes, end: at + 1 }
    if (end >= 0) at = end
    else if (character === '/' || SPACE.test(character)) at++
    else {
      const attribute = readAttribute(html, liquid, at)
      attributes.push(attribute)
      at = attribute.to
    }
  }
  return { name: '', attributes: [], end: html.length }
}

/** The end of a tag's name: Liquid ends it, because what it turns into begins with a space. */
function seekName(html: string, liquid: Liquid, from: number): number {
  let at = from
  while (at < html.length && !/[\t\n\f\r />]/.test(html[at] as string) && (html[at] !== '{' || liquid(at) < 0)) at++
  return at
}

function readAttribute(html: string, liquid: Liquid, from: number): Attribute {
  // A first `=` belongs to the name.
  const nameTo = seek(html, liquid, from + 1, (character) => /[\t\n\f\r />=]/.test(character))
  const name = html.slice(from, nameTo).toLowerCase()
  const sign = pastSpace(html, nameTo)
  const none = { name, from, to: nameTo, valueFrom: nameTo, valueTo: nameTo, quote: '' as const }
  if (html[sign] !== '=') return none
  const start = pastSpace(html, sign + 1)
  const quote = html[start]
  if (quote === '>') return { ...none, to: start }
  if (quote === '"' || quote === "'") {
    const valueTo = seek(html, liquid, start + 1, (character) => character === quote)
    return { name, from, to: valueTo + 1, valueFrom: start + 1, valueTo, quote }
  }
  const valueTo = seek(html, liquid, start, (character) => character === '>' || SPACE.test(character))
  return { name, from, to: valueTo, valueFrom: start, valueTo, quote: '' }
}

function pastSpace(html: string, from: number): number {
  let at = from
  while (at < html.length && SPACE.test(html[at] as string)) at++
  return at
}

/** Where the end tag of an element of text begins; the length when there is none. */
function endOfText(html: string, liquid: Liquid, name: string, from: number): number {
  const ends = (at: number) =>
    html.slice(at, at + name.length + 2).toLowerCase() === `</${name}` && /^[\t\n\f\r />]$/.test(html[at + name.length + 2] ?? '')
  return seek(html, liquid, from, (character, at) => character === '<' && ends(at))
}
