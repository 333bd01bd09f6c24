/**
 * MJML silently drops everything between its elements. Liquid there is wrapped in `mj-raw`, which keeps its position; other text that
 * would be lost is reported.
 */
import { isLiquid } from '../../../lib/liquid/liquid.ts'
import { type HtmlTag, readHtml } from '../../../lib/markup/html-reader.ts'
import { type MaskedText, piecesIn } from '../../../lib/markup/liquid-mask.ts'
import { lineCounter } from '../../../lib/text.ts'

/** Elements whose content MJML does not parse. */
const OPAQUE = new Set([
  'mj-accordion-text',
  'mj-accordion-title',
  'mj-breakpoint',
  'mj-button',
  'mj-carousel-image',
  'mj-html-attribute',
  'mj-navbar-link',
  'mj-preview',
  'mj-raw',
  'mj-social-element',
  'mj-style',
  'mj-table',
  'mj-text',
  'mj-title',
])

/** Elements in which an `mj-raw` keeps its position between its neighbours. */
const WITH_RAW = new Set([
  'mj-accordion',
  'mj-accordion-element',
  'mj-body',
  'mj-column',
  'mj-group',
  'mj-hero',
  'mj-navbar',
  'mj-section',
  'mj-social',
  'mj-wrapper',
])

const DEPTH_MAX = 30

/** Something that is wrong, on a line of the masked text. */
export type MjmlProblem = { line: number; message: string }

type Wrapped = {
  text: string
  /** The numbers of the Liquid that decides about whole elements: it has to come out in this order, each once. */
  structural: number[]
  mistakes: MjmlProblem[]
}

/** Wraps the placeholders that stand between elements. Line breaks stay where they are. */
export function wrapTags(masked: MaskedText): Wrapped {
  const wrapped: Wrapped = { text: '', structural: [], mistakes: [] }
  const lineOf = lineCounter(masked.text)
  const open: string[] = []
  let opaque = 0
  let end = 0
  for (const token of readHtml(masked)) {
    let written = masked.text.slice(token.begin, token.end)
    if (token.kind === 'tag' && (opaque > 0 || OPAQUE.has(token.name))) {
      opaque += opacityOf(token)
    } else if (token.kind === 'tag') {
      nest(open, token)
      if (token.name === 'mj-include') mistake('`mj-include` is not supported. Insert the content of the file instead')
      if (open.length > DEPTH_MAX) {
        mistake('the elements are nested too deeply')
        break
      }
    } else if (token.kind === 'text' && opaque === 0) {
      written = between(masked, open.at(-1) ?? '', written, wrapped, mistake)
    }
    wrapped.text += written
    end = token.end

    function mistake(message: string): void {
      wrapped.mistakes.push({ line: lineOf(token.begin), message })
    }
  }
  wrapped.text += masked.text.slice(end)
  return wrapped
}

function opacityOf({ name, isEnd, isSelfClosing }: HtmlTag): number {
  if (!OPAQUE.has(name) || isSelfClosing) return 0
  return isEnd ? -1 : 1
}

function nest(open: string[], { name, isEnd, isSelfClosing }: HtmlTag): void {
  if (isSelfClosing) return
  if (!isEnd) open.push(name)
  else if (open.includes(name)) open.length = open.lastIndexOf(name)
}

/** The text between two elements, with its placeholders wrapped. */
function between(masked: MaskedText, parent: string, text: string, wrapped: Wrapped, mistake: (message: string) => void): string {
  const words = text.replace(masked.placeholder, ' ').trim()
  if (words !== '' && parent !== '')
    mistake(`the text \`${words.slice(0, 40)}\` is between elements, where it is not displayed. Put it into \`mj-text\``)
  // MJML reorders the elements of the head, so only complete Liquid is allowed there.
  if (!WITH_RAW.has(parent) && !(parent === 'mj-head' && isLiquid(masked.unmask(text)))) return text
  wrapped.structural.push(...piecesIn(masked, text))
  return text.replace(runOf(masked), '<mj-raw>$&</mj-raw>')
}

const runOf = ({ placeholder: { source } }: MaskedText) => new RegExp(`${source}(?:\\s*${source})*`, 'g')
