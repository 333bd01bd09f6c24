/**
 * MJML silently drops everything between its elements. Liquid there is wrapped in `mj-raw`, which keeps its position; other text that
 * would be lost is reported.
 */
import { LiquidError, parseTemplate } from '../../../lib/liquid.ts'
import { htmlTokens, type Tag, type Words } from '../markup/html-tokens.ts'
import { marksIn, type Shielded } from '../markup/liquid-mask.ts'

/** Elements whose content MJML does not parse. */
const OPAQUE = new Set([
  'mj-accordion-text',
  'mj-accordion-title',
  'mj-breakpoint',
  'mj-button',
  'mj-carousel-image',
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

/** Something that is wrong, on a line of the shielded text. */
export type MjmlProblem = { line: number; message: string }

type Wrapped = {
  text: string
  /** The numbers of the tags that decide about whole elements: they have to come out in this order, each once. */
  structural: number[]
  mistakes: MjmlProblem[]
}

/** Wraps the marks that stand between elements. Line breaks stay where they are. */
export function wrapTags(shielded: Shielded): Wrapped {
  const wrapped: Wrapped = { text: '', structural: [], mistakes: [] }
  const lines = lineCounter(shielded.text)
  const open: string[] = []
  let opaque = 0
  for (const token of htmlTokens(shielded.text)) {
    let written = shielded.text.slice(token.begin, token.end)
    if (token.kind === 'tag' && (opaque > 0 || OPAQUE.has(token.name))) {
      opaque += opacityOf(token)
    } else if (token.kind === 'tag') {
      nest(open, token)
      if (token.name === 'mj-include') mistake('`mj-include` is not supported. Insert the content of the file instead')
      if (open.length > DEPTH_MAX) mistake('the elements are nested too deeply')
    } else if (token.kind === 'text' && opaque === 0) {
      written = between(shielded, open.at(-1) ?? '', token, wrapped, mistake)
    }
    wrapped.text += written

    function mistake(message: string): void {
      wrapped.mistakes.push({ line: lines(token.begin), message })
    }
  }
  return wrapped
}

function opacityOf({ name, isEnd, isClosed }: Tag): number {
  if (!OPAQUE.has(name) || isClosed) return 0
  return isEnd ? -1 : 1
}

function nest(open: string[], { name, isEnd, isClosed }: Tag): void {
  if (isClosed) return
  if (!isEnd) open.push(name)
  else if (open.includes(name)) open.length = open.lastIndexOf(name)
}

/** What stands between elements, with its marks wrapped. */
function between(shielded: Shielded, parent: string, { text }: Words, wrapped: Wrapped, mistake: (message: string) => void): string {
  const words = text.replace(shielded.mark, ' ').trim()
  if (words !== '' && parent !== '')
    mistake(`the text \`${words.slice(0, 40)}\` is between elements, where it is not displayed. Put it into \`mj-text\``)
  if (!WITH_RAW.has(parent) && !(parent === 'mj-head' && isWhole(shielded.restore(text)))) return text
  wrapped.structural.push(...marksIn(shielded, text))
  return text.replace(runOf(shielded), '<mj-raw>$&</mj-raw>')
}

const runOf = ({ mark }: Shielded) => new RegExp(`${mark.source}(?:\\s*${mark.source})*`, 'g')

// MJML reorders the elements of the head, so only complete Liquid is allowed there.
function isWhole(text: string): boolean {
  try {
    parseTemplate(text, { escape: false })
    return true
  } catch (error) {
    if (error instanceof LiquidError) return false
    throw error
  }
}

/** Lines of positions that are asked for in ascending order. */
function lineCounter(text: string): (at: number) => number {
  let line = 1
  let counted = 0
  return (at) => {
    for (let next = text.indexOf('\n', counted); next !== -1 && next < at; next = text.indexOf('\n', next + 1)) {
      line++
      counted = next + 1
    }
    return line
  }
}
