/** Compiles MJML that contains Liquid to HTML. A document that would lose Liquid is refused. */
import { loading } from '../../../infra/threads/task.ts'
import type { Fault } from '../../../lib/errors.ts'
import { LiquidError, parseTemplate } from '../../../lib/liquid/liquid.ts'
import { type MaskedText, maskLiquid, piecesIn } from '../../../lib/markup/liquid-mask.ts'
import { trimEndMatching } from '../../../lib/text.ts'
import { sizeOf } from './size.ts'
import { type MjmlProblem, wrapTags } from './wrap.ts'

const MISTAKES_MAX = 20
const MESSAGE_LENGTH_MAX = 300
const HTML_LENGTH_MAX = 500_000
const ELEMENTS_MAX = 5000
/** Each rule that is inlined is compared with each element. */
const COMPARISONS_MAX = 100_000

/** Compiles MJML, or returns its mistakes with their lines. */
export async function compileMjml(mjml: string): Promise<{ html: string } | { faults: Fault[] }> {
  const masked = maskLiquid(mjml)
  const costly = costFaults(masked)
  if (costly.length > 0) return { faults: costly }
  const { text, structural, mistakes } = wrapTags(masked)
  if (mistakes.length > 0) return refused(masked, mistakes)
  const result = await orMistake(text)
  if ('line' in result) return refused(masked, [result])
  // A value that is Liquid cannot be checked now, unless MJML computed with it.
  const isLater = ({ message }: MjmlProblem) => message.includes('has invalid value') && piecesIn(masked, message).length > 0
  const invalid = /\bNaN/.test(result.html) && !mjml.includes('NaN') ? result.errors : result.errors.filter((error) => !isLater(error))
  if (invalid.length > 0) return refused(masked, invalid)
  const lost = lostTags(masked, structural, result.html)
  if (lost.length > 0) return { faults: lost }
  return whole(masked.unmask(compacted(result.html)))
}

/** What compiling would cost, before it begins. */
function costFaults(masked: MaskedText): Fault[] {
  const { elements, rules } = sizeOf(masked)
  const fault = (message: string): Fault => ({ code: 'validation_failed', param: 'mjml', message })
  if (elements > ELEMENTS_MAX) return [fault(`The MJML has ${elements} elements; it may have at most ${ELEMENTS_MAX}. Remove some.`)]
  if (elements * rules <= COMPARISONS_MAX) return []
  return [
    fault(
      `The MJML has ${elements} elements and ${rules} rules that are applied to each of them (inline styles, \`mj-attributes\`, \`mj-selector\`); the product may be at most ${COMPARISONS_MAX}. Use fewer rules, or a style that is not inline.`,
    ),
  ]
}

type Compiled = { html: string; errors: MjmlProblem[] }

async function orMistake(text: string): Promise<Compiled | MjmlProblem> {
  // Loaded on first use: it is larger than the rest of a thread, and many servers never compile MJML.
  const { default: mjml2html } = await loading(() => import('mjml'))
  try {
    return await mjml2html(text, { fonts: {}, keepComments: true, ignoreIncludes: true, validationLevel: 'soft' })
  } catch (error) {
    // The compiler throws for documents that it cannot parse, such as one without a body.
    return { line: 1, message: (error as Error).message }
  }
}

function refused({ unmask, sourceLine }: MaskedText, mistakes: MjmlProblem[]): { faults: Fault[] } {
  return {
    faults: mistakes.slice(0, MISTAKES_MAX).map(({ line, message }) => ({
      code: 'validation_failed',
      param: 'mjml',
      message: `The MJML is invalid on line ${sourceLine(line)}: ${trimEndMatching(unmask(message).slice(0, MESSAGE_LENGTH_MAX), /^[.\s]$/)}.`,
    })),
  }
}

/** Faults for Liquid tags that compiling lost, or whose order it changed. */
function lostTags(masked: MaskedText, structural: number[], html: string): Fault[] {
  const found = piecesIn(masked, html)
  const survived = new Set(found)
  const between = new Set(structural)
  const places = found.filter((number) => between.has(number))
  const moved = structural.filter((number, at) => survived.has(number) && places[at] !== number)
  const lost = masked.pieces.flatMap((_, number) => (survived.has(number) ? [] : [number]))
  return (lost.length > 0 ? lost : moved.slice(0, 1)).slice(0, MISTAKES_MAX).map((number) => {
    const { text, line } = masked.pieces[number] as (typeof masked.pieces)[number]
    const message = `The tag \`${text.slice(0, 100)}\` on line ${line} of \`mjml\` would be lost. Move it into text, into an attribute that appears in the HTML, or between sections, columns or their elements.`
    return { code: 'validation_failed', param: 'mjml', message }
  })
}

// The indentation of the compiler only makes messages larger.
const compacted = (html: string): string => (/<pre|<textarea|white-space/i.test(html) ? html : html.replace(/\n\s+/g, '\n'))

function whole(html: string): { html: string } | { faults: Fault[] } {
  if (html.length > HTML_LENGTH_MAX) {
    const message = `The HTML compiled from \`mjml\` has ${html.length} characters; it may have at most ${HTML_LENGTH_MAX}. Shorten it.`
    return { faults: [{ code: 'validation_failed', param: 'mjml', message }] }
  }
  try {
    parseTemplate(html, { escape: true })
    return { html }
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    const message = `The Liquid in \`mjml\` is invalid after compiling: ${error.message}. Keep the tags of a condition or loop at the same level.`
    return { faults: [{ code: 'validation_failed', param: 'mjml', message }] }
  }
}
