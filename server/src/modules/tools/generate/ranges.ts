/** How many, how long: what the text generator's counts mean when given exactly, by a range, by half a range or not at all. */
import { type Fault, refuse } from '../../../lib/errors.ts'

export type Range = { min: number; max: number }

/** The units of D-GEN-7: what may be asked for, and what is usual. Words have no usual length. */
export const UNITS = {
  lineCount: { limits: { min: 1, max: 20 }, usual: { min: 1, max: 5 }, counts: 'lines' },
  sentenceCount: { limits: { min: 1, max: 20 }, usual: { min: 2, max: 6 }, counts: 'sentences' },
  paragraphCount: { limits: { min: 1, max: 5 }, usual: { min: 1, max: 3 }, counts: 'paragraphs' },
  wordCount: { limits: { min: 1, max: 50 }, usual: { min: 3, max: 10 }, counts: 'words' },
  wordLength: { limits: { min: 1, max: 14 }, usual: undefined, counts: 'characters of a word' },
} as const satisfies Record<string, { limits: Range; usual: Range | undefined; counts: string }>

export type Unit = keyof typeof UNITS
export type Ranges = Partial<Record<Unit, Range>>

type Asked = { [K in Unit | `${Unit}Min` | `${Unit}Max`]?: string }

/** The range of every unit; `wordLength` stays out when nothing was asked. Refuses with 422 a Min above its Max. */
export function resolveRanges(form: Asked): Ranges {
  const units = Object.keys(UNITS) as Unit[]
  refuse(units.flatMap((unit) => crossed(unit, form[`${unit}Min`], form[`${unit}Max`])))
  return Object.fromEntries(units.map((unit) => [unit, resolveRange(form, unit)]).filter(([, range]) => range))
}

function resolveRange(form: Asked, unit: Unit): Range | undefined {
  const [exact, min, max] = [form[unit], form[`${unit}Min`], form[`${unit}Max`]].map((text) =>
    text === undefined ? undefined : Number(text),
  )
  const { limits, usual } = UNITS[unit]
  if (exact !== undefined) return { min: exact, max: exact }
  if (min === undefined && max === undefined) return usual
  const other = usual ?? limits
  return { min: min ?? Math.min(other.min, max ?? other.min), max: max ?? Math.max(other.max, min ?? other.max) }
}

/** The fault of a lower bound above its upper bound, if there is one. */
export function crossed(name: string, min: string | number | undefined, max: string | number | undefined): Fault[] {
  if (min === undefined || max === undefined || Number(min) <= Number(max)) return []
  const message = `\`${name}Min\` must not be greater than \`${name}Max\`, which is ${Number(max)}.`
  return [{ code: 'validation_failed', param: `${name}Min`, message }]
}
