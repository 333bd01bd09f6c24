/** Adds up how long a text message is for users. Pure. */
import type { TextSizes } from './schema.ts'

/** How long the message of a user is. */
export type TextSize = { encoding: 'GSM-7' | 'UCS-2'; characters: number; segments: number }
export type Measured = TextSize & { external_id: string | null }

/** The sizes of messages, one for each user. */
export function summaryOf(measured: Measured[]): Pick<TextSizes, 'users' | 'unicode' | 'characters' | 'segments' | 'shares' | 'longest'> {
  const bySegments = Map.groupBy(measured, ({ segments }) => segments)
  const [longest] = measured.toSorted((a, b) => b.segments - a.segments || b.characters - a.characters)
  return {
    users: measured.length,
    unicode: measured.filter(({ encoding }) => encoding === 'UCS-2').length,
    characters: spreadOf(measured.map(({ characters }) => characters)),
    segments: spreadOf(measured.map(({ segments }) => segments)),
    shares: [...bySegments]
      .sort(([a], [b]) => a - b)
      .map(([segments, { length }]) => ({ segments, users: length, share: length / measured.length })),
    longest: longest ? { external_id: longest.external_id, characters: longest.characters, segments: longest.segments } : null,
  }
}

function spreadOf(values: number[]): { p50: number; max: number } | null {
  const sorted = values.toSorted((a, b) => a - b)
  const max = sorted.at(-1)
  const p50 = sorted[Math.ceil(sorted.length / 2) - 1]
  return max === undefined || p50 === undefined ? null : { p50, max }
}

/** What was read of the audience of a blast. */
type AudienceSample = {
  /** The users that were read and would get the message. */
  reached: number
  /** How often the users that were read are in the lists. */
  memberships: number
  /** The members of all lists together, those of several lists several times. */
  listed: number
  /** No other users are in the lists. */
  isWhole: boolean
}

/** How many users get the blast. An estimate, unless all were read: the others are in as many lists, and are reached as often. */
export const recipientsOf = ({ reached, memberships, listed, isWhole }: AudienceSample): number =>
  isWhole ? reached : Math.round((listed / Math.max(memberships, 1)) * reached)

type Priced = { amount: number; currency: string }

/** What the messages cost. */
export function costOf(measured: Measured[], price: Priced | null, recipients: number | null): TextSizes['cost'] {
  if (price === null || measured.length === 0) return null
  const mean = measured.reduce((sum, { segments }) => sum + segments, 0) / measured.length
  const perMessage = mean * price.amount
  return {
    currency: price.currency,
    per_message: rounded(perMessage),
    total: recipients === null ? null : rounded(perMessage * recipients),
  }
}

const DECIMALS = 6
const rounded = (amount: number) => Number(amount.toFixed(DECIMALS))
