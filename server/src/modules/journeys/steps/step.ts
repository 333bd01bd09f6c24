import type { TSchema } from 'typebox'

/** A kind of step. Its settings are optional, because a draft may be incomplete. */
export type StepKind = {
  /** The name for display. */
  label: string
  /** The members of `data`. */
  settings: TSchema
  /** Users wait in this step, so a loop that contains it is allowed. */
  waits?: true
}

/** Declares a kind of step. */
export const step = (kind: StepKind): StepKind => kind
