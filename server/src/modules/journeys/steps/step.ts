import type { TSchema } from 'typebox'

/** A kind of step. What it needs to run is asked for when the journey goes live; a draft may leave members out. */
export type StepKind = {
  /** What people call it. */
  label: string
  /** The members of `data`. */
  settings: TSchema
  /** Time passes in it, so that a loop through it comes to rest. */
  waits?: true
}

/** Declares a kind of step. */
export const step = (kind: StepKind): StepKind => kind
