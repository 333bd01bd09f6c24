import { type Static, type TSchema, Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import { Line } from '../../../lib/shapes.ts'

const REQUIRED_MAX = 50

/** Members of templates for every channel. */
export const common = {
  required: Type.Optional(
    Type.Array(Line(255), {
      maxItems: REQUIRED_MAX,
      description:
        'Variables that must not be empty, such as `user.data.first_name`. If one is, the message fails. Other missing variables render as nothing.',
    }),
  ),
}

/** Members that were compiled when the template was saved. They replace members of the same name. */
export type Compiled = Record<string, string>

/** The shape of the content for a channel. Every string may contain Liquid. */
export type TemplateKind<S extends TSchema = TSchema> = {
  shape: S
  /** The members that are HTML. Values rendered into them are escaped. */
  html: readonly string[]
  /** Checks that concern several members, or strings that contain no Liquid. */
  check?: (data: Static<S>) => Fault[]
  /** Compiles content when it is saved, if the channel needs it. */
  compile?: (data: Static<S>) => Promise<{ compiled: Compiled } | { faults: Fault[] }>
}

/** Declares the template kind of a channel. */
export const templateKind = <S extends TSchema>(kind: TemplateKind<S>): TemplateKind => kind as unknown as TemplateKind
