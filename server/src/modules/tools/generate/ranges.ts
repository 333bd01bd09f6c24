/** The sizes of the text generator, which can be exact, a range, half a range or absent. */
import { type Fault, refuse } from '../../../lib/errors.ts'

export type Range = { min: number; max: number }

/** The units of D-GEN-7, with their limits and defaults. The length of words has no default. */
export const UNITS = {
  lineCount: { limits: { min: 1, max: 20 }, fallback: { min: 1, max: 5 }, counts: 'lines' },
  sentenceCount: { limits: { min: 1, max: 20 }, fallback: { min: 2, max: 6 }, counts: 'sentences' },
  paragraphCount: { limits: { min: 1, max: 5 }, fallback: { min: 1, max: 3 }, counts: 'paragraphs' },
  wordCount: { limits: { min: 1, max: 50 }, fallback: { min: 3, max: 10 }, counts: 'words' },
  wordLength: { limits: { min: 1, max: 14 }, fallback: undefined, counts: 'characters in a word' },
} as const satisfies Record<string, { limits: Range; fallback: Range | undefined; counts: string }>

export type Unit = keyof typeof UNITS
export type Ranges = Partial<Record<Unit, Range>>

type SizeForm = { [K in Unit | `${Unit}Min` | `${Unit}Max`]?: string }

/** The range of every unit, without `wordLength` if the form has none. Throws 422 if a Min is above its Max. */
export function resolveRanges(form: SizeForm): Ranges {
  const units = Object.keys(UNITS) as Unit[]
  refuse(units.flatMap((unit) => crossed(unit, form[`${unit}Min`], form[`${unit}Max`])))
  return Object.fromEntries(units.map((unit) => [unit, resolveRange(form, unit)]).filter(([, range]) => range))
}

function resolveRange(form: SizeForm, unit: Unit): Range | undefined {
  const [exact, min, max] = [form[unit], form[`${unit}Min`], form[`${unit}Max`]].map((text) =>
    text === undefined ? undefined : Number(text),
  )
  const { limits, fallback } = UNITS[unit]
  if (exact !== undefined) return { min: exact, max: exact }
  if (min === undefined && max === undefined) return fallback
  const other = fallback ?? limits
  return { min: min ?? Math.min(other.min, max ?? other.min), max: max ?? Math.max(other.max, min ?? other.max) }
}

/** A fault if the minimum is above the maximum. */
export function crossed(name: string, min: string | number | undefined, max: string | number | undefined): Fault[] {
  if (min === undefined || max === undefined || Number(min) <= Number(max)) return []
  const message = `\`${name}Min\` must not be greater than \`${name}Max\`, which is ${Number(max)}.`
  return [{ code: 'validation_failed', param: `${name}Min`, message }]
}
