import { type Static, type TSchema, Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import { Line } from '../../../lib/shapes.ts'
import type { MailboxMember } from '../mail-names.ts'
import type { Segments } from '../sms.ts'

const REQUIRED_MAX = 50

/** Members of templates for every channel. */
export const common = {
  required: Type.Optional(
    Type.Array(Line(255), {
      maxItems: REQUIRED_MAX,
      description:
        'Variables that must not be empty, such as `user.data.first_name`. If one of them is empty, the message fails. Other missing variables render as nothing.',
    }),
  ),
}

/** Members that were compiled when the template was saved. They replace members of the same name. */
export type Compiled = Record<string, string>

/** The size of a message, and the segments of an SMS. */
export type Measures = { size_bytes: number; segments?: Segments }

/** The shape of the content for a channel. Every string may contain Liquid. */
export type TemplateKind<S extends TSchema = TSchema> = {
  shape: S
  /** The members that are HTML. Values rendered into them are escaped. */
  html: readonly string[]
  /** The members that are addresses with display names. Values rendered into a name are part of it, whatever they contain. */
  mailboxes?: Readonly<Record<string, MailboxMember>>
  /** Checks that concern several members, or strings that contain no Liquid. */
  check?: (data: Static<S>) => Fault[]
  /** Compiles content for a locale when it is saved, if the channel needs it. */
  compile?: (data: Static<S>, locale: string) => Promise<{ compiled: Compiled } | { faults: Fault[] }>
  /** Measures a rendered message. By default the size is that of its JSON. */
  measure?: (content: Record<string, unknown>) => Measures
  /** A template that uses every member, for tests. */
  sample: Static<S>
}

/** The size of content as JSON. */
export const jsonBytes = (content: Record<string, unknown>): number => Buffer.byteLength(JSON.stringify(content))

/** Declares the template kind of a channel. */
export const templateKind = <S extends TSchema>(kind: TemplateKind<S>): TemplateKind => kind as unknown as TemplateKind
