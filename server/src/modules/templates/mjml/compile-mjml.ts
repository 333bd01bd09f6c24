/** MJML to HTML, with Liquid in it. Whatever comes out has all the Liquid that went in, or it does not come out. */
import type { Fault } from '../../../lib/errors.ts'
import { LiquidError, parseTemplate } from '../../../lib/liquid.ts'
import { marksIn, maskLiquid, type Shielded } from '../markup/liquid-mask.ts'
import { type MjmlProblem, wrapTags } from './wrap.ts'

const MISTAKES_SHOWN = 20
const MESSAGE_LENGTH_MAX = 300
const HTML_LENGTH_MAX = 500_000

/** The HTML of MJML that is Liquid, or what is wrong with it, line by line. */
export async function compileMjml(mjml: string): Promise<{ html: string } | { faults: Fault[] }> {
  const shielded = maskLiquid(mjml)
  const { text, structural, mistakes } = wrapTags(shielded)
  if (mistakes.length > 0) return refused(shielded, mistakes)
  const result = await orMistake(text)
  if ('line' in result) return refused(shielded, [result])
  // A value that is filled in later cannot be judged now, unless something was to be computed with it.
  const isLater = ({ message }: MjmlProblem) => message.includes('has invalid value') && marksIn(shielded, message).length > 0
  const invalid = /\bNaN/.test(result.html) && !mjml.includes('NaN') ? result.errors : result.errors.filter((error) => !isLater(error))
  if (invalid.length > 0) return refused(shielded, invalid)
  const lost = lostTags(shielded, structural, result.html)
  if (lost.length > 0) return { faults: lost }
  return whole(shielded.restore(compacted(result.html)))
}

type Compiled = { html: string; errors: MjmlProblem[] }

async function orMistake(text: string): Promise<Compiled | MjmlProblem> {
  // Loaded when it is first needed: it is larger than the rest of the server, and most processes compile no MJML.
  const { default: mjml2html } = await import('mjml')
  try {
    return await mjml2html(text, { fonts: {}, keepComments: true, ignoreIncludes: true, validationLevel: 'soft' })
  } catch (error) {
    // The compiler throws for what it cannot read at all, such as a document without a body.
    return { line: 1, message: (error as Error).message }
  }
}

function refused({ restore, lineOf }: Shielded, mistakes: MjmlProblem[]): { faults: Fault[] } {
  return {
    faults: mistakes.slice(0, MISTAKES_SHOWN).map(({ line, message }) => ({
      code: 'validation_failed',
      param: 'mjml',
      message: `The MJML is wrong on line ${lineOf(line)}: ${restore(message)
        .replace(/[.\s]+$/, '')
        .slice(0, MESSAGE_LENGTH_MAX)}.`,
    })),
  }
}

/** Tags that are gone, and those of elements that changed places. */
function lostTags(shielded: Shielded, structural: number[], html: string): Fault[] {
  const found = marksIn(shielded, html)
  const survived = new Set(found)
  const between = new Set(structural)
  const places = found.filter((number) => between.has(number))
  const moved = structural.filter((number, at) => survived.has(number) && places[at] !== number)
  const gone = shielded.tags.flatMap((_, number) => (survived.has(number) ? [] : [number]))
  return (gone.length > 0 ? gone : moved.slice(0, 1)).slice(0, MISTAKES_SHOWN).map((number) => {
    const { text, line } = shielded.tags[number] as (typeof shielded.tags)[number]
    const message = `The tag \`${text.slice(0, 100)}\` on line ${line} of \`mjml\` would be lost. Put it into a text, into an attribute that is shown, or between sections, columns or their elements.`
    return { code: 'validation_failed', param: 'mjml', message }
  })
}

// The compiler indents, which nobody sees and everybody is sent.
const compacted = (html: string): string => (/<pre|<textarea|white-space/i.test(html) ? html : html.replace(/\n\s+/g, '\n'))

function whole(html: string): { html: string } | { faults: Fault[] } {
  if (html.length > HTML_LENGTH_MAX) {
    const message = `The HTML that \`mjml\` becomes has ${html.length} characters; it may have at most ${HTML_LENGTH_MAX}. Make it shorter.`
    return { faults: [{ code: 'validation_failed', param: 'mjml', message }] }
  }
  try {
    parseTemplate(html, { escape: true })
    return { html }
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    const message = `The Liquid of \`mjml\` does not hold together once it is compiled: ${error.message}. Keep the tags of a condition or loop side by side.`
    return { faults: [{ code: 'validation_failed', param: 'mjml', message }] }
  }
}
