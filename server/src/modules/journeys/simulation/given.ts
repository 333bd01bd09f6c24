/** What a simulation is given beside its user. */
import type { CampaignId } from '../../../lib/ids.ts'
import type { Asked } from '../engine/advance.ts'
import type { Answer, Effect } from '../steps/step.ts'
import type { SimulatedList, SimulatedUser } from './user.ts'

export type Text = { text: string } | { problem: string }

/** A message that a step asked for. */
export type SimulatedMessage = {
  entrance: number
  step: string
  visit: number
  at: Date
  campaignId: CampaignId
  /** Why the user would get nothing; null if the message would be sent. */
  reason: string | null
  scope: { user: SimulatedUser['user']; event: Record<string, unknown> }
}

/** What a message leads to, and when. Null: no such campaign is running. */
export type MessagePlan = { reason: string | null; deadline: Date; outcome: { state: string; reason: string | null; at: Date }[] }

/** What a simulation is given beside its user. */
export type Given = {
  zone: string
  projectId: number
  locale: string
  /** The lists that exist. */
  lists: readonly SimulatedList[]
  subscriptionIds: ReadonlySet<number>
  /** Memberships of dynamic lists follow everything that happens; otherwise only what the journey does, because others are inputs. */
  evaluates: boolean
  planMessage(asked: Asked, campaignId: CampaignId, user: SimulatedUser): MessagePlan | null
  answerOf(asked: Asked): { answer: Answer; problem: string | null; at: Date }
  /** The place in the rate of a balancer. */
  reserve(asked: Asked, effect: Extract<Effect, { is: 'reserve' }>): Date
  render(items: { templates: string[]; scope: Record<string, unknown> }[]): Promise<Text[][]>
}
