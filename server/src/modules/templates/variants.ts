import { OneOf } from '../../lib/shapes.ts'

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

/** The name of a variant; variants are stored as numbers from zero. */
export const VariantName = OneOf(LETTERS, { description: 'A variant of an A/B test. A campaign without variants has only `A`.' })

export const variantName = (variant: number): string => LETTERS[variant] ?? ''

/** The number of a variant; by default that of `A`. */
export const variantNumber = (name: string | undefined): number => Math.max(0, LETTERS.indexOf(name ?? 'A'))
