import type { Static, TSchema } from 'typebox'

/** An id in `data`. `param` is its path in the steps of a journey. */
export type StepReference = { kind: 'campaign' | 'journey' | 'list' | 'subscription'; id: number; param: string }

/** A rule in `data`, which can contain ids. */
export type StepRule = { rule: unknown; param: string }

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
  /** The members of `data` that refer to something of the project: by an id, or by a rule that contains ids. */
  refersTo?: Record<string, StepReference['kind'] | 'rule'>
  /** Users wait in this step, so a loop that contains it is allowed. */
  waits?: true
}

/** Declares a kind of step. */
export const step = <S extends TSchema>(kind: StepKind<S>): StepKind => kind as StepKind
