import { analysed, type LiquidTag } from '../../../lib/liquid/liquid.ts'
import { loopVariable, variablesOf } from '../../../lib/liquid/variables.ts'
import { readHtml } from '../../../lib/markup/html-reader.ts'
import { maskLiquid, piecesIn } from '../../../lib/markup/liquid-mask.ts'
import { lint } from './lint.ts'
import { textsOf } from './reading.ts'

const WAYS_OUT = ['unsubscribe_url', 'preferences_url']
/** Tags that write what they read. */
const WRITING = ['echo', 'cycle', 'liquid']

export const noUnsubscribeLink = lint({
  severity: 'error',
  channels: ['email'],
  find({ written: { html, mjml }, about }) {
    if (about.isTransactional) return []
    const texts = textsOf({ html, mjml })
    if (texts.some(({ text }) => writesWayOut(text))) return []
    const message =
      'This email has no unsubscribe link. Most countries require one in marketing email. Add a link to `{{ unsubscribe_url }}` or `{{ preferences_url }}`.'
    return texts.map(({ param }) => ({ param, message }))
  },
  examples: [
    { content: { subject: 's', html: '<p>unsubscribe_url</p>' }, finds: ['html'] },
    { content: { subject: 's', html: 'x', text: '{{ unsubscribe_url }}' }, finds: ['html'] },
    { content: { subject: 's', mjml: '<mjml></mjml>' }, finds: ['mjml'] },
    { content: { subject: 's', html: '<a href="{{ unsubscribe_url }}">Stop</a>' }, finds: [] },
    { content: { subject: 's', html: '{{ preferences_url | escape }}' }, finds: [] },
    { content: { subject: 's', html: '<!-- {{ unsubscribe_url }} -->' }, finds: ['html'] },
    { content: { subject: 's', html: '{% if unsubscribe_url %}Bye{% endif %}' }, finds: ['html'] },
    {
      content: { subject: 's', html: '{% assign u = unsubscribe_url | append: "?x=1" %}<a href="{{ u }}">Stop</a><!-- {{ u }} -->' },
      finds: [],
    },
    { content: { subject: 's', html: '{% capture u %}{{ unsubscribe_url }}{% endcapture %}<a href="{{ u }}">Stop</a>' }, finds: [] },
    { content: { subject: 's', html: '{% capture u %}{{ unsubscribe_url }}{% endcapture %}<a href="{{ x }}">Stop</a>' }, finds: ['html'] },
    {
      content: {
        subject: 's',
        html: '{% assign all = unsubscribe_url | split: "," %}{% for u in all %}<a href="{{ u }}">Stop</a>{% endfor %}',
      },
      finds: [],
    },
    {
      content: {
        subject: 's',
        html: '{% assign all = unsubscribe_url | split: "," %}{% tablerow u in all %}<a href="{{ u }}">Stop</a>{% endtablerow %}',
      },
      finds: [],
    },
    {
      content: {
        subject: 's',
        html: '{% assign all = unsubscribe_url | split: "," %}{% for u in all %}<a href="{{ x }}">Stop</a>{% endfor %}',
      },
      finds: ['html'],
    },
    { content: { subject: 's', html: '{% if x %}<a href="{% echo unsubscribe_url %}">Stop</a>{% endif %}' }, finds: [] },
    { content: { subject: 's', html: 'x' }, about: { isTransactional: true }, finds: [] },
  ],
})

/** Whether one of the links is written outside the comments of the markup, by its own name or that of a variable that has its value. */
function writesWayOut(text: string): boolean {
  const masked = maskLiquid(text)
  const seen = readHtml(masked).filter(({ kind }) => kind !== 'comment')
  const shown = new Set(seen.flatMap(({ begin, end }) => piecesIn(masked, masked.text.slice(begin, end))))
  const names = new Set(WAYS_OUT)
  // The variables into which the tags at this place write, instead of into the email.
  const writtenTo: string[] = []
  for (const [number, tag] of masked.pieces.entries()) {
    if (tag.name === 'capture') writtenTo.push(...Object.keys(analysed(`${tag.text}{% endcapture %}`).locals))
    if (tag.name === 'endcapture') writtenTo.pop()
    if (!variablesOf(tag.text).some(({ names: [root = ''] }) => names.has(root))) continue
    for (const name of assignedBy(tag)) names.add(name)
    const target = writtenTo.at(-1)
    if (tag.name !== null && !WRITING.includes(tag.name)) continue
    if (target !== undefined) names.add(target)
    else if (shown.has(number)) return true
  }
  return false
}

/** The variables that get a value from what a tag reads. */
function assignedBy(tag: LiquidTag): string[] {
  if (tag.name === 'assign') return Object.keys(analysed(tag.text).locals)
  const variable = loopVariable(tag)
  return variable === undefined ? [] : [variable]
}
