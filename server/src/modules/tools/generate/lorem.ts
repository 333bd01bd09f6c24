import { fault } from '../../../lib/errors.ts'
import type { LoremForm, LoremRecord } from '../schema.ts'
import type { Fakers } from './locales.ts'
import { type Ranges, resolveRanges, type Unit } from './ranges.ts'

type Strategy = NonNullable<LoremForm['strategy']>
type Field = Exclude<LoremRecord['method'], 'profile'>

export type LoremSettings = { ranges: Ranges; strategy: Strategy; separator: string | undefined }

/** The settings of a form (D-GEN-7). Throws 422 if a Min is above its Max. */
export const loremSettings = (form: LoremForm): LoremSettings => ({
  ranges: resolveRanges(form),
  strategy: form.strategy ?? 'any-length',
  separator: form.separator,
})

const SENTENCE_SEPARATOR = ' '
const PARAGRAPH_SEPARATOR = '\n'

type Write = (fakers: Fakers, size: number | undefined, settings: LoremSettings) => string

/** Each field with the unit of its size and the function that generates it. */
const FIELDS: Record<Field, { unit?: Unit; write: Write }> = {
  word: { unit: 'wordLength', write: word },
  words: { unit: 'wordCount', write: ({ faker }, size) => faker.lorem.words(size) },
  sentence: { unit: 'wordCount', write: ({ faker }, size) => faker.lorem.sentence(size) },
  sentences: {
    unit: 'sentenceCount',
    write: ({ faker }, size, { separator }) => faker.lorem.sentences(size, separator ?? SENTENCE_SEPARATOR),
  },
  paragraph: { unit: 'sentenceCount', write: ({ faker }, size) => faker.lorem.paragraph(size) },
  paragraphs: {
    unit: 'paragraphCount',
    write: ({ faker }, size, { separator }) => faker.lorem.paragraphs(size, separator ?? PARAGRAPH_SEPARATOR),
  },
  lines: { unit: 'lineCount', write: ({ faker }, size) => faker.lorem.lines(size) },
  slug: { unit: 'wordCount', write: slug },
  text: { write: ({ faker }) => faker.lorem.text() },
}

const ALL_FIELDS = Object.keys(FIELDS) as Field[]

/** Generates a record: the fields of the method and their sizes. Every size is drawn once. */
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

/** Draws a size for each unit of the fields. The result has the names of the reply, with the bounds. */
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
    ...(fields.includes('paragraphs') && { separator: separator ?? PARAGRAPH_SEPARATOR }),
    ...(fields.includes('sentences') && { separator: separator ?? SENTENCE_SEPARATOR }),
  }
}

function word({ faker }: Fakers, length: number | undefined, { strategy }: LoremSettings): string {
  if (length === undefined) return faker.lorem.word()
  if (strategy === 'fail' && !faker.definitions.lorem.word.some((word) => word.length === length)) {
    throw fault('validation_failed', 'strategy', `The locale has no word of ${length} characters. Choose another \`strategy\`.`)
  }
  return faker.lorem.word({ length, strategy })
}

// A slug in a script without ASCII letters would contain only hyphens, and in Korean a digit here and there.
function slug({ faker, english }: Fakers, words: number | undefined): string {
  const slug = faker.lorem.slug(words)
  return /[a-z]/.test(slug) ? slug : english.lorem.slug(words)
}
