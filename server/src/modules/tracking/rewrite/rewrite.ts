/**
 * Finds the links of an HTML template before Liquid fills it in, and gives each another address afterwards. In between, marks
 * of digits stand around the values, which no filter changes: a number that nobody can guess, then which link it is, and its quotes.
 */
import { encodeAttribute } from './entities.ts'
import { liquidSpans } from './liquid-spans.ts'
import { type Attribute, type StartTag, startTags } from './tags.ts'
import { isSurelyOther, webUrlIn } from './web-url.ts'

type Marks = {
  /** The same HTML with every link marked, and how the template writes each; the place in `links` is the number of the link. */
  numberLinks(html: string): { html: string; links: string[] }
  /**
   * Takes the marks out of what became of it, and asks `urlOf` for the address that each link gets instead. Who answers with
   * the same address leaves the document as it was. It must run over everything that was marked, tracked or not.
   */
  wrapLinks(rendered: string, urlOf: (link: number, url: string) => string): string
}

const LINK_DIGITS = 5
const LINKS_MAX = 10 ** LINK_DIGITS
/** What a mark says: that a value begins, in which quotes, or that it ends. */
const BEGINS = { '': '0', "'": '1', '"': '2' } as const
const ENDS = '9'
const MARK = new RegExp(`^\\d{${LINK_DIGITS}}[0129]`)
const MARK_LENGTH = LINK_DIGITS + 1

/** Addresses that are about the message itself. */
const OURS = /unsubscribe_url|preferences_url|view_url/

/** `nonce` is what marks begin with: at least 20 digits that nobody outside knows. */
export function createMarks(nonce: string): Marks {
  if (!/^\d{20,}$/.test(nonce)) throw new Error('Marks are made of at least 20 digits.')
  const mark = (link: number, says: string) => `${nonce}${String(link).padStart(LINK_DIGITS, '0')}${says}`
  return {
    numberLinks(html) {
      const links: string[] = []
      const edits: Edit[] = []
      const isLiquid = hasLiquid(html)
      for (const tag of startTags(html)) {
        if (!mayLink(tag)) continue
        const refusal = tag.attributes.find((attribute) => isRefusal(html, attribute))
        if (refusal) {
          edits.push(removal(html, refusal))
          continue
        }
        for (const { valueFrom, valueTo, quote } of tag.attributes.filter(({ name }) => name === 'href')) {
          const source = html.slice(valueFrom, valueTo)
          if (links.length === LINKS_MAX || !isTrackable(source, isLiquid)) continue
          edits.push({ from: valueFrom, to: valueFrom, text: mark(links.length, BEGINS[quote]) })
          edits.push({ from: valueTo, to: valueTo, text: mark(links.length, ENDS) })
          links.push(webUrlIn(source) ?? source.trim())
        }
      }
      return { html: edited(html, edits), links }
    },
    wrapLinks(rendered, urlOf) {
      const [head = '', ...parts] = rendered.split(nonce)
      let text = head
      for (const [at, part] of parts.entries()) {
        const [link, says] = MARK.test(part) ? [part.slice(0, LINK_DIGITS), part[LINK_DIGITS] as string] : ['', ENDS]
        const value = part.slice(link === '' ? 0 : MARK_LENGTH)
        const isLink = says !== ENDS && parts[at + 1]?.startsWith(link + ENDS) === true
        text += isLink ? wrapped(value, says, (url) => urlOf(Number(link), url)) : value
      }
      return text
    },
  }
}

const hasLiquid = (html: string) => html.includes('{{') || html.includes('{%')

/** Links of HTML, and the shapes of VML, which Outlook draws buttons with. */
const mayLink = ({ name }: StartTag) => name === 'a' || name === 'area' || name.startsWith('v:')

const isRefusal = (html: string, { name, valueFrom, valueTo }: Attribute) =>
  name === 'data-track' && html.slice(valueFrom, valueTo).trim().toLowerCase() === 'false'

type Edit = { from: number; to: number; text: string }

/** Takes an attribute out, with the space before it unless that is what keeps its neighbours apart. */
function removal(html: string, { from, to }: Attribute): Edit {
  let start = from
  if (/[\s/>]/.test(html[to] ?? '')) while (/\s/.test(html[start - 1] ?? '')) start--
  return { from: start, to, text: '' }
}

function edited(html: string, edits: Edit[]): string {
  let [text, at] = ['', 0]
  for (const edit of edits) {
    text += html.slice(at, edit.from) + edit.text
    at = edit.to
  }
  return text + html.slice(at)
}

/** Is it, or may it become, a web address that is not about the message itself? What Liquid makes is judged again afterwards. */
function isTrackable(source: string, isLiquid: boolean): boolean {
  const liquidAt = isLiquid ? firstLiquid(source) : -1
  if (liquidAt < 0) return webUrlIn(source) !== null
  return !OURS.test(source) && !isSurelyOther(source.slice(0, liquidAt))
}

function firstLiquid(source: string): number {
  const liquid = liquidSpans(source)
  for (let at = source.indexOf('{'); at >= 0; at = source.indexOf('{', at + 1)) if (liquid(at) >= 0) return at
  return -1
}

/** The value of a link with its new address. One that ends before its mark, because of a quote in it, stays as it is. */
function wrapped(source: string, begins: string, urlOf: (url: string) => string): string {
  const isWhole = begins === BEGINS[''] ? !/^["']|[\t\n\f\r >]/.test(source) : !source.includes(begins === BEGINS['"'] ? '"' : "'")
  const url = isWhole ? webUrlIn(source) : null
  if (url === null) return source
  const other = urlOf(url)
  return other === url ? source : encodeAttribute(other)
}
