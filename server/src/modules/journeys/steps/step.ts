import type { Static, TSchema } from 'typebox'

/** A kind of step. Its settings are optional, because a draft may be incomplete. */
export type StepKind<S extends TSchema = TSchema> = {
  /** The name for display. */
  label: string
  /** What happens to a user at the step, in a sentence. */
  description: string
  /** The members of `data`. */
  settings: S
  /** Settings as they are written, for the API. */
  example: Static<S> & Record<string, unknown>
  /** The step with the settings of the example, in words. */
  sentence: string
  /** Users wait in this step, so a loop that contains it is allowed. */
  waits?: true
}

/** Declares a kind of step. */
export const step = <S extends TSchema>(kind: StepKind<S>): StepKind => kind as StepKind
