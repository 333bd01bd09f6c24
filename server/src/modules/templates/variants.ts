import { OneOf } from '../../lib/shapes.ts'

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

/** The name of a variant; variants are stored as numbers from zero. */
export const VariantName = OneOf(LETTERS, { description: 'A variant of what a campaign says, for A/B tests. `A` when it has only one.' })

export const variantName = (variant: number): string => LETTERS[variant] ?? ''

/** The number of a variant; that of `A` when none is named. */
export const variantNumber = (name: string | undefined): number => Math.max(0, LETTERS.indexOf(name ?? 'A'))
