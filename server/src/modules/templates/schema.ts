import { type Static, Type } from 'typebox'
import type { CampaignId, SubscriptionId } from '../../lib/ids.ts'
import { type Channel, Exact, FreeForm, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'
import { LINT_KINDS } from './lints/find.ts'
import { SEVERITIES } from './lints/lint.ts'
import { Segments } from './sms.ts'
import { VariantName } from './variants.ts'

const RECIPIENTS_MAX = 10
const SCOPE_BYTES_MAX = 65_536

export const Content = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'The members depend on the channel of the campaign; every string is Liquid.',
})
export type Content = Record<string, unknown>

/** The campaign that templates belong to, as far as they depend on it. */
export type TemplateOwner = { id: CampaignId; name: string; type: 'blast' | 'trigger'; channel: Channel; subscription_id: SubscriptionId }

/** A template as it is sent: `content` is what was compiled when it was saved. */
export type SendableTemplate = {
  id: number
  campaign_id: CampaignId
  locale: string
  variant: number
  updated_at: Date
  content: Record<string, unknown>
  required: readonly string[]
}

const Locale = Line(255, { format: 'locale', description: 'BCP-47 tag. The template is chosen as for a user of this locale.' })

const template = { id: IdOf(), campaign_id: IdOf<CampaignId>(), locale: Type.String(), data: Content }

/** A template as it is read. */
export const Template = Exact({ ...template, variant: VariantName, created_at: Timestamp, updated_at: Timestamp })
export type Template = Static<typeof Template>

export const TemplateRow = Type.Object({
  ...template,
  variant: Type.Integer(),
  compiled: Nullable(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
  created_at: Instant,
  updated_at: Instant,
})
export type TemplateRow = Static<typeof TemplateRow>

/** Something that a person would want to know before it is sent. */
export const Finding = Exact({
  kind: OneOf([...LINT_KINDS, 'render_failed'], { description: 'What was found. `render_failed`: nothing would be sent to this user.' }),
  severity: OneOf(SEVERITIES),
  param: Type.String({ description: 'Where in the template.' }),
  line: Type.Optional(Type.Integer({ minimum: 1 })),
  message: Type.String(),
})
export type Finding = Static<typeof Finding>

export const SavedTemplate = Exact({ ...Template.properties, findings: Type.Array(Finding) })
export type SavedTemplate = Static<typeof SavedTemplate>

/** What is worth knowing about the templates of a campaign. */
export const LintReport = Exact({
  results: Type.Array(Exact({ locale: Type.String(), variant: VariantName, findings: Type.Array(Finding) })),
})
export type LintReport = Static<typeof LintReport>

const choice = { locale: Type.Optional(Locale), variant: Type.Optional(VariantName) }
const UserName = (description: string) => Line(255, { format: 'identifier', description })

export const PreviewInput = Exact({
  ...choice,
  template: Type.Optional(Content),
  user: Type.Optional(UserName('The `external_id` of whom it is rendered for.')),
  data: Type.Optional(
    FreeForm(SCOPE_BYTES_MAX, {
      description:
        'What the template may speak of, such as `{"event": {"data": {"total": 5}}}`; in place of what the user has. Without `user` and `data` it is rendered for a made-up person.',
    }),
  ),
})
export type PreviewInput = Static<typeof PreviewInput>

export const Preview = Exact({
  locale: Type.String(),
  variant: VariantName,
  content: Nullable(
    Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'The message, filled in; null when nothing would be sent.' }),
  ),
  size_bytes: Type.Integer({ description: 'Of the HTML of a mail, of the whole content otherwise.' }),
  segments: Type.Optional(Segments),
  findings: Type.Array(Finding),
})
export type Preview = Static<typeof Preview>

export const TestInput = Exact({
  to: Type.Array(Line(255, { description: 'An address of the channel, or the `external_id` of a user.' }), {
    minItems: 1,
    maxItems: RECIPIENTS_MAX,
  }),
  ...choice,
  as: Type.Optional(UserName('The `external_id` of whom it is rendered for; each user for themselves when absent.')),
})
export type TestInput = Static<typeof TestInput>

export const TestReport = Exact({
  results: Type.Array(
    Exact({
      to: Type.String(),
      outcome: OneOf(['accepted', 'rejected', 'deferred', 'uncertain', 'refused'] as const, {
        description: '`refused`: it was not handed to a provider. `uncertain`: the provider may have it or not.',
      }),
      provider: Type.Optional(Type.String()),
      reason: Type.Optional(Type.String({ description: 'Why it was not accepted.' })),
      content: Type.Optional(Content),
    }),
    { description: 'In the order of `to`. `content` is what a provider that sends nothing out has kept.' },
  ),
})
export type TestReport = Static<typeof TestReport>
