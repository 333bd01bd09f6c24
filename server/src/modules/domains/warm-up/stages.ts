/** Decides how far the warm-up of a mail site is (D-MTA-45). Pure. */

/** What a plan asks for. */
export type WarmUpPlan = { steps: readonly number[]; bounce_percent_max: number; deferral_percent_max: number }

/** The step of a mail site, counted from 0, and the counts of the day on which it last had email. */
export type WarmUpCounts = { step: number; day: string; sent: number; bounced: number; deferred: number }

export const DEFAULT_STEPS: readonly number[] = [50, 100, 500, 1000, 5000, 10_000, 20_000, 50_000, 100_000, 250_000]

/** A day counts towards the next step if at least this share of its ceiling was used: reputation comes from volume. */
const USED_SHARE = 0.5

/** The highest number of emails of a day at a step; null after the last one. */
const ceilingAt = ({ steps }: Pick<WarmUpPlan, 'steps'>, step: number): number | null => steps[step] ?? null

/**
 * The step of a mail site today: the previous one after a bad day, the next one after a good day on which at least half of the ceiling was
 * used, and otherwise the same one.
 */
export function stepToday(plan: WarmUpPlan, counts: WarmUpCounts, today: string): number {
  const { day, sent } = counts
  // A plan can have had more steps. After its last one there is no ceiling.
  const step = Math.min(counts.step, plan.steps.length)
  if (day >= today || sent === 0) return step
  if (isBad(plan, counts)) return Math.max(0, step - 1)
  const ceiling = ceilingAt(plan, step)
  return ceiling !== null && sent >= ceiling * USED_SHARE ? step + 1 : step
}

/** Whether too many emails of the day bounced or were deferred. */
const isBad = (plan: WarmUpPlan, { sent, bounced, deferred }: Omit<WarmUpCounts, 'step' | 'day'>): boolean =>
  bounced * 100 > plan.bounce_percent_max * sent || deferred * 100 > plan.deferral_percent_max * sent

/** The ceiling for the rest of the day: once a day can be judged and goes badly, no more is sent. */
export function ceilingToday(plan: WarmUpPlan, counts: WarmUpCounts, today: string): number | null {
  const ceiling = ceilingAt(plan, stepToday(plan, counts, today))
  if (counts.day < today || counts.sent < JUDGED_FROM || !isBad(plan, counts)) return ceiling
  return ceiling === null ? counts.sent : Math.min(ceiling, counts.sent)
}

/** With fewer emails, a single bounce would be too large a share. */
const JUDGED_FROM = 20

/** The day of an instant. Days are in UTC. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

/** The first instant of the next day. */
export function nextDay(at: Date): Date {
  const next = new Date(at)
  next.setUTCHours(24, 0, 0, 0)
  return next
}
