import { createHash } from 'node:crypto'

const SEED_MAX = 4_294_967_295
const DECIMAL = /^(0|[1-9]\d{0,9})$/

const isCanonical = (seed: string) => DECIMAL.test(seed) && Number(seed) <= SEED_MAX

/**
 * Turns a seed into an unsigned 32-bit number (D-GEN-5): a canonical decimal number is used as it is, and other text is hashed. Text
 * must not be passed to Faker, which reads it as a list of characters, so that different words give similar results.
 */
export function numericSeed(seed: string): number {
  return isCanonical(seed) ? Number(seed) : createHash('sha256').update(seed).digest().readUInt32BE()
}

/** The seed in a reply: a number if it is canonical, or else the text. */
export const echoSeed = (seed: string): number | string => (isCanonical(seed) ? Number(seed) : seed)
