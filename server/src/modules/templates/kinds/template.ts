import { type Static, type TSchema, Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import { Line } from '../../../lib/shapes.ts'

const REQUIRED_MAX = 50

/** What a template of any channel may say of itself. */
export const common = {
  required: Type.Optional(
    Type.Array(Line(255), {
      maxItems: REQUIRED_MAX,
      description: 'Variables such as `user.data.first_name`: whoever lacks one gets no message. Others are empty when they are missing.',
    }),
  ),
}

/** Members of the messages that are made once, when a template is saved; they take the place of those of the same name. */
export type Compiled = Record<string, string>

/** What the messages of a channel are made of. Every string in it is Liquid. */
export type TemplateKind<S extends TSchema = TSchema> = {
  shape: S
  /** The members that are HTML; what is filled into them is escaped. */
  html: readonly string[]
  /** Rules about the values together, or about texts that contain no Liquid and so can be judged already. */
  check?: (data: Static<S>) => Fault[]
  /** Makes what can be made before anybody is known. Absent when there is nothing to make. */
  compile?: (data: Static<S>) => Promise<{ compiled: Compiled } | { faults: Fault[] }>
}

/** Declares the template of a channel. */
export const templateKind = <S extends TSchema>(kind: TemplateKind<S>): TemplateKind => kind as unknown as TemplateKind
