/** The generic cell rate algorithm: a rate with a small burst, kept as one number. Pure. */

/** A rate, and how many may come at the same instant. */
export type Rate = { perSecond: number; burst: number }

/**
 * Takes up to `wanted` at `nowMs`. `filledAt` is the instant at which all that was taken has been made up for; 0 at first. In any time
 * `t`, at most `perSecond × t + burst` are granted. A clock that moves back grants nothing until it has caught up.
 */
export function takeFrom(
  { perSecond, burst }: Rate,
  filledAt: number,
  wanted: number,
  nowMs: number,
): { granted: number; filledAt: number; nextAt: number } {
  const intervalMs = 1000 / perSecond
  const from = Math.max(filledAt, nowMs)
  const room = burst - (from - nowMs) / intervalMs
  // A sum of fractions can be a hair short of a whole.
  const granted = Math.max(0, Math.min(wanted, Math.floor(room + 1e-9)))
  const then = granted > 0 ? from + granted * intervalMs : filledAt
  return { granted, filledAt: then, nextAt: Math.max(nowMs, Math.ceil(then - (burst - 1) * intervalMs)) }
}
