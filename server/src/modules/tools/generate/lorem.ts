import { fault } from '../../../lib/errors.ts'
import type { LoremForm, LoremRecord } from '../schema.ts'
import type { Fakers } from './locales.ts'
import { type Ranges, resolveRanges, type Unit } from './ranges.ts'

type Strategy = NonNullable<LoremForm['strategy']>
type Field = Exclude<LoremRecord['method'], 'profile'>

export type LoremSettings = { ranges: Ranges; strategy: Strategy; separator: string | undefined }

/** What the form asks of the text generator (D-GEN-7). Refuses with 422 a Min above its Max. */
export const loremSettings = (form: LoremForm): LoremSettings => ({
  ranges: resolveRanges(form),
  strategy: form.strategy ?? 'any-length',
  separator: form.separator,
})

const SENTENCES_JOINED_BY = ' '
const PARAGRAPHS_JOINED_BY = '\n'

type Write = (fakers: Fakers, size: number | undefined, settings: LoremSettings) => string

/** Each field, the unit that sizes it, and how it is written. */
const FIELDS: Record<Field, { unit?: Unit; write: Write }> = {
  word: { unit: 'wordLength', write: word },
  words: { unit: 'wordCount', write: ({ faker }, size) => faker.lorem.words(size) },
  sentence: { unit: 'wordCount', write: ({ faker }, size) => faker.lorem.sentence(size) },
  sentences: {
    unit: 'sentenceCount',
    write: ({ faker }, size, { separator }) => faker.lorem.sentences(size, separator ?? SENTENCES_JOINED_BY),
  },
  paragraph: { unit: 'sentenceCount', write: ({ faker }, size) => faker.lorem.paragraph(size) },
  paragraphs: {
    unit: 'paragraphCount',
    write: ({ faker }, size, { separator }) => faker.lorem.paragraphs(size, separator ?? PARAGRAPHS_JOINED_BY),
  },
  lines: { unit: 'lineCount', write: ({ faker }, size) => faker.lorem.lines(size) },
  slug: { unit: 'wordCount', write: slug },
  text: { write: ({ faker }) => faker.lorem.text() },
}

const ALL_FIELDS = Object.keys(FIELDS) as Field[]

/** One record: the fields of its method, and what was drawn for them. Every count is drawn once. */
export function loremRecord(fakers: Fakers, method: LoremRecord['method'], settings: LoremSettings): LoremRecord {
  const fields = method === 'profile' ? ALL_FIELDS : [method]
  const sizes = drawSizes(fakers, fields, settings.ranges)
  const texts: Partial<Record<Field, string>> = {}
  for (const field of fields) {
    const { unit, write } = FIELDS[field]
    texts[field] = write(fakers, unit && sizes[unit], settings)
  }
  const value = texts[method === 'profile' ? 'text' : method] ?? ''
  return { method, value, ...texts, ...sizes, ...echoes(fields, settings) }
}

/** A size for each unit the fields use, with the bounds it was drawn from, under the names of the reply. */
function drawSizes({ faker }: Fakers, fields: Field[], ranges: Ranges): { [K in Unit | `${Unit}Min` | `${Unit}Max`]?: number } {
  const units = new Set(fields.flatMap((field) => FIELDS[field].unit ?? []))
  const drawn: Record<string, number> = {}
  for (const unit of units) {
    const range = ranges[unit]
    if (range) Object.assign(drawn, { [unit]: faker.number.int(range), [`${unit}Min`]: range.min, [`${unit}Max`]: range.max })
  }
  return drawn
}

function echoes(fields: Field[], { strategy, separator }: LoremSettings): Pick<LoremRecord, 'strategy' | 'separator'> {
  return {
    ...(fields.includes('word') && { strategy }),
    ...(fields.includes('paragraphs') && { separator: separator ?? PARAGRAPHS_JOINED_BY }),
    ...(fields.includes('sentences') && { separator: separator ?? SENTENCES_JOINED_BY }),
  }
}

function word({ faker }: Fakers, length: number | undefined, { strategy }: LoremSettings): string {
  if (length === undefined) return faker.lorem.word()
  if (strategy === 'fail' && !faker.definitions.lorem.word.some((word) => word.length === length)) {
    throw fault('validation_failed', 'strategy', `The locale has no word of ${length} characters; choose another \`strategy\`.`)
  }
  return faker.lorem.word({ length, strategy })
}

// Scripts without ASCII letters leave nothing but hyphens.
function slug({ faker, english }: Fakers, words: number | undefined): string {
  const slug = faker.lorem.slug(words)
  return /[a-z0-9]/.test(slug) ? slug : english.lorem.slug(words)
}
