/**
 * Finds the links of an HTML template before Liquid fills it in, and gives each another address afterwards. In between, boundaries
 * of digits stand around the values, which no filter changes: a number that cannot be guessed, then which link it is, and its quotes.
 */
import { LiquidError } from '../../../lib/liquid/liquid.ts'
import { variablesOf } from '../../../lib/liquid/variables.ts'
import { decodeAttribute, encodeAttribute } from '../../../lib/markup/attribute-text.ts'
import { type HtmlTag, readHtml } from '../../../lib/markup/html-reader.ts'
import { type MaskedText, maskValidLiquid } from '../../../lib/markup/liquid-mask.ts'
import { isSurelyOther, webUrlOf } from './web-url.ts'

type LinkRewriter = {
  /** The same HTML with boundaries around every link, and how the template writes each; the index in `links` is its number. */
  numberLinks(html: string): { html: string; links: string[] }
  /**
   * Takes the boundaries out of the rendered HTML, and asks `urlOf` for the address that each link gets instead. An answer that
   * is the same address leaves the document as it was. Call it for everything that was numbered, tracked or not.
   */
  wrapLinks(rendered: string, urlOf: (link: number, url: string) => string): string
}

const LINK_DIGITS = 5
const LINKS_MAX = 10 ** LINK_DIGITS
/** What a boundary says: that a value begins, in which quotes, or that it ends. */
const BEGINS = { '': '0', "'": '1', '"': '2' } as const
const ENDS = '9'
const BOUNDARY = new RegExp(`^\\d{${LINK_DIGITS}}[0129]`)
const BOUNDARY_LENGTH = LINK_DIGITS + 1

/** Variables whose addresses are about the message itself. */
const OURS = ['unsubscribe_url', 'preferences_url', 'view_url']

/** `nonce` is what boundaries begin with: at least 20 digits that are known here only. */
export function createLinkRewriter(nonce: string): LinkRewriter {
  if (!/^\d{20,}$/.test(nonce)) throw new Error('Boundaries are made of at least 20 digits.')
  const boundary = (link: number, kind: string) => `${nonce}${String(link).padStart(LINK_DIGITS, '0')}${kind}`
  return {
    numberLinks(html) {
      const links: string[] = []
      const edits: Edit[] = []
      const masked = maskValidLiquid(html)
      for (const tag of linkTags(masked)) {
        const refusal = tag.attributes.find(({ name, value }) => name === 'data-track' && value.trim().toLowerCase() === 'false')
        if (refusal) {
          edits.push(removal(html, masked.sourceOffset(refusal.begin), masked.sourceOffset(refusal.end)))
          continue
        }
        for (const { value, valueBegin, valueEnd, quote } of tag.attributes.filter(({ name }) => name === 'href')) {
          if (links.length === LINKS_MAX || !isTrackable(masked, value)) continue
          const [begin, end] = [masked.sourceOffset(valueBegin), masked.sourceOffset(valueEnd)]
          edits.push({ begin, end: begin, text: boundary(links.length, BEGINS[quote]) })
          edits.push({ begin: end, end, text: boundary(links.length, ENDS) })
          links.push(webUrlOf(masked.unmask(value)) ?? html.slice(begin, end).trim())
        }
      }
      return { html: edited(html, edits), links }
    },
    wrapLinks(rendered, urlOf) {
      const [head = '', ...parts] = rendered.split(nonce)
      let text = head
      for (const [at, part] of parts.entries()) {
        const [link, kind] = BOUNDARY.test(part) ? [part.slice(0, LINK_DIGITS), part[LINK_DIGITS] as string] : ['', ENDS]
        const value = part.slice(link === '' ? 0 : BOUNDARY_LENGTH)
        const isLink = kind !== ENDS && parts[at + 1]?.startsWith(link + ENDS) === true
        text += isLink ? wrapped(value, kind, (url) => urlOf(Number(link), url)) : value
      }
      return text
    },
  }
}

/** The elements that may be links: those of HTML, and the shapes of VML, which Outlook draws buttons with. */
const linkTags = (masked: MaskedText): HtmlTag[] =>
  readHtml(masked, { readsConditions: true }).filter(
    (token) => token.kind === 'tag' && !token.isEnd && (token.name === 'a' || token.name === 'area' || token.name.startsWith('v:')),
  ) as HtmlTag[]

type Edit = { begin: number; end: number; text: string }

/** Takes an attribute out, with the space before it unless that is what keeps its neighbours apart. */
function removal(html: string, begin: number, end: number): Edit {
  let start = begin
  if (/[\s/>]/.test(html[end] ?? '')) while (/\s/.test(html[start - 1] ?? '')) start--
  return { begin: start, end, text: '' }
}

function edited(html: string, edits: Edit[]): string {
  let [text, at] = ['', 0]
  for (const edit of edits) {
    text += html.slice(at, edit.begin) + edit.text
    at = edit.end
  }
  return text + html.slice(at)
}

/** Is it, or may it become, a web address that is not about the message itself? What Liquid makes is judged again afterwards. */
function isTrackable({ placeholder, unmask }: MaskedText, value: string): boolean {
  const liquidAt = value.search(placeholder)
  if (liquidAt < 0) return webUrlOf(value) !== null
  return !isSurelyOther(value.slice(0, liquidAt)) && !readsOurs(unmask(value))
}

/** Does it read one of our variables? One whose name only contains such a name is the author's, as is an attribute of that name. */
function readsOurs(value: string): boolean {
  try {
    return variablesOf(value).some(({ names: [root = ''] }) => OURS.includes(root))
  } catch (error) {
    if (error instanceof LiquidError) return false
    throw error
  }
}

/** The value of a link with its new address. One that ends before its boundary, because of a quote in it, stays as it is. */
function wrapped(source: string, begins: string, urlOf: (url: string) => string): string {
  const isWhole = begins === BEGINS[''] ? !/^["']|[\t\n\f\r >]/.test(source) : !source.includes(begins === BEGINS['"'] ? '"' : "'")
  const url = isWhole ? webUrlOf(decodeAttribute(source)) : null
  if (url === null) return source
  const other = urlOf(url)
  return other === url ? source : encodeAttribute(other)
}
