/** Chooses the variant of a campaign that did best. Pure. */
import { type Counts, PENDING_STATES, SENT_STATES } from '../messages/index.ts'
import type { Winner, WinnerNumbers } from './schema.ts'

type Row = Pick<Counts['states'][number], 'state' | 'variant' | 'messages' | 'opens' | 'clicks'>

/**
 * The variant with the highest share of opened or clicked messages; the first one if several are equal. Null while no test message was sent
 * but some still will be, because there is nothing to compare yet.
 */
export function chooseWinner(
  metric: Winner['metric'],
  variants: number,
  rows: readonly Row[],
): { variant: number; numbers: WinnerNumbers } | null {
  const tested = rows.filter(({ variant }) => variant !== null)
  const numbers = Array.from({ length: variants }, (_, variant) => {
    const own = tested.filter((row) => row.variant === variant && SENT_STATES.includes(row.state))
    return { variant, sent: sumOf(own, 'messages'), opens: sumOf(own, 'opens'), clicks: sumOf(own, 'clicks') }
  })
  if (numbers.every(({ sent }) => sent === 0) && tested.some(({ state }) => PENDING_STATES.includes(state))) return null
  const rate = (variant: number) => (numbers[variant]?.[metric] ?? 0) / Math.max(1, numbers[variant]?.sent ?? 0)
  const best = numbers.reduce((best, { variant }) => (rate(variant) > rate(best) ? variant : best), 0)
  return { variant: best, numbers }
}

const sumOf = (rows: Row[], member: 'messages' | 'opens' | 'clicks') => rows.reduce((sum, row) => sum + row[member], 0)
