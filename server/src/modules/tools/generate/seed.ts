import { createHash } from 'node:crypto'

const SEED_MAX = 4_294_967_295
const DECIMAL = /^(0|[1-9]\d{0,9})$/

const isCanonical = (seed: string) => DECIMAL.test(seed) && Number(seed) <= SEED_MAX

/**
 * The unsigned 32-bit number behind a seed (D-GEN-5): a canonical decimal is itself, any other text is hashed.
 * Faker must never see the text: it would read it as a list of characters, and unlike words would give like results.
 */
export function numericSeed(seed: string): number {
  return isCanonical(seed) ? Number(seed) : createHash('sha256').update(seed).digest().readUInt32BE()
}

/** How a reply repeats the seed: canonical decimals as numbers, other text as it came. */
export const echoSeed = (seed: string): number | string => (isCanonical(seed) ? Number(seed) : seed)
