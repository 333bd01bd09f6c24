/** What happens to users, as journeys see it. Pure. */
import type { JourneyId, ListId, UserId } from '../../../lib/ids.ts'
import type { JourneyItem } from '../queue-items.ts'
import type { Input } from '../steps/step.ts'

/** Something that happened to a user. */
export type Fact =
  | {
      is: 'event'
      /** Unique among the events of the project. */
      key: string
      name: string
      data: Record<string, unknown>
      createdAt: Date
      isSystem: boolean
      /** The journey that a system event is about, through a message. */
      ofJourney: JourneyId | null
      ofEntrance: number | null
      isImport: boolean
      isInherited: boolean
      /** Whether it may make users enter; it ends waits in any case. */
      starts: boolean
    }
  | { is: 'membership'; listId: ListId; entered: boolean; key: string; isInherited: boolean }
  | { is: 'changed'; what: readonly string[]; isNew: boolean }

/** Everything that one item of the queue, or a timer, means for a user. A user has one in a wave. */
export type Occasion = {
  userId: UserId
  /** The instant of the item. */
  at: Date
  /** That of an entrance which it causes. */
  depth: number
  facts: Fact[]
  /** Timers that are due. */
  timers: { entranceId: number; visit: number; journeyId: JourneyId; dueAt: Date }[]
  items: JourneyItem[]
  /** Its facts are memberships that changed because time passed. */
  isOfTime?: true
}

/** The dependencies that a fact concerns, as steps name them. */
export function dependenciesOf(fact: Fact): readonly string[] {
  switch (fact.is) {
    case 'event':
      return [`event:${fact.name}`]
    case 'membership':
      return [`list:${fact.listId}`]
    case 'changed':
      return fact.what
    default:
      return fact satisfies never
  }
}

/** The fact as an input of a decision. */
export function inputOf(fact: Fact): Input {
  switch (fact.is) {
    case 'event':
      return { is: 'event', name: fact.name, data: fact.data, createdAt: fact.createdAt }
    case 'membership':
      return { is: 'membership', listId: fact.listId, entered: fact.entered }
    case 'changed':
      return { is: 'changed', what: fact.what }
    default:
      return fact satisfies never
  }
}
