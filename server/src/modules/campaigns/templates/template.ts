import type { Static, TSchema } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'

/** What the messages of a channel are made of. Every string in it is Liquid. */
export type TemplateKind<S extends TSchema = TSchema> = {
  shape: S
  /** The members that are HTML; what is filled into them is escaped. */
  html: readonly string[]
  /** Rules about the values together, or about texts that contain no Liquid and so can be judged already. */
  check?: (data: Static<S>) => Fault[]
}

/** Declares the template of a channel. */
export const templateKind = <S extends TSchema>(kind: TemplateKind<S>): TemplateKind => kind as unknown as TemplateKind
