import { type Static, Type } from 'typebox'
import type { CampaignId, SubscriptionId } from '../../lib/ids.ts'
import { type Channel, Exact, FreeForm, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'
import { PreviewAttachment } from './attachments.ts'
import { TEMPLATES_DOCUMENTED } from './components.ts'
import { LINT_KINDS } from './lints/find.ts'
import { SEVERITIES } from './lints/lint.ts'
import { Segments } from './sms.ts'
import { VariantName } from './variants.ts'

const RECIPIENTS_MAX = 10
const SCOPE_BYTES_MAX = 65_536

export const Content = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'The members depend on the channel of the campaign. Every string may contain Liquid.',
  documented: TEMPLATES_DOCUMENTED,
})

/** A message as it was rendered. */
const RenderedContent = Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'The members depend on the channel.' })

export type Content = Record<string, unknown>

/** The members of a campaign that its templates depend on. */
export type TemplateOwner = { id: CampaignId; name: string; type: 'blast' | 'trigger'; channel: Channel; subscription_id: SubscriptionId }

/** A template ready to be sent, with compiled content. */
export type SendableTemplate = {
  id: number
  campaign_id: CampaignId
  locale: string
  variant: number
  updated_at: Date
  content: Record<string, unknown>
  required: readonly string[]
  /** Of all its files together. */
  attachment_bytes: number
}

const Locale = Line(255, { format: 'locale', description: 'A BCP 47 language tag. The template is chosen as for a user with this locale.' })

const template = { id: IdOf(), campaign_id: IdOf<CampaignId>(), locale: Type.String(), data: Content }

/** A template in API replies. */
export const Template = Exact({ ...template, variant: VariantName, created_at: Timestamp, updated_at: Timestamp })
export type Template = Static<typeof Template>

export const TemplateRow = Type.Object({
  ...template,
  variant: Type.Integer(),
  compiled: Nullable(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
  /** Of all its files together. */
  attachment_bytes: Type.Integer(),
  created_at: Instant,
  updated_at: Instant,
})
export type TemplateRow = Static<typeof TemplateRow>

/** Who saved a version; null before versions were kept. */
const SavedBy = Nullable(
  Exact(
    {
      type: OneOf(['key', 'member', 'system'], { description: 'The actor that saved it. `system` is this server.' }),
      id: Nullable(Type.Integer({ description: 'The id of the API key or the member.' })),
      name: Nullable(Type.String()),
    },
    { description: 'Who saved it; null if unknown.' },
  ),
)

export const TemplateVersion = Exact({
  number: Type.Integer({ minimum: 1, description: 'The number of the version, counted from 1 for each template.' }),
  saved_at: Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When the version was last saved.' }),
  saved_by: SavedBy,
})
export type TemplateVersion = Static<typeof TemplateVersion>

export const TemplateVersionWhole = Exact({ ...TemplateVersion.properties, data: Content })
export type TemplateVersionWhole = Static<typeof TemplateVersionWhole>

export const VersionRow = Type.Object({
  number: Type.Integer(),
  actor_type: Nullable(OneOf(['key', 'member', 'system'])),
  actor_id: Nullable(Type.Integer()),
  actor_name: Nullable(Type.String()),
  saved_at: Instant,
})

/** A problem that a check found in a template. */
export const Finding = Exact({
  kind: OneOf([...LINT_KINDS, 'render_failed'], {
    description: 'The kind of problem. `render_failed` means that this user would get no message.',
  }),
  severity: OneOf(SEVERITIES),
  param: Type.String({ description: 'The member of the template.' }),
  line: Type.Optional(Type.Integer({ minimum: 1 })),
  message: Type.String(),
})
export type Finding = Static<typeof Finding>

export const SavedTemplate = Exact({ ...Template.properties, findings: Type.Array(Finding) })
export type SavedTemplate = Static<typeof SavedTemplate>

/** The findings in the templates of a campaign. */
export const LintReport = Exact({
  results: Type.Array(Exact({ locale: Type.String(), variant: VariantName, findings: Type.Array(Finding) })),
})
export type LintReport = Static<typeof LintReport>

const choice = { locale: Type.Optional(Locale), variant: Type.Optional(VariantName) }
const UserName = (description: string) => Line(255, { format: 'identifier', description })

export const PreviewInput = Exact({
  ...choice,
  template: Type.Optional(Content),
  user: Type.Optional(UserName('The `external_id` of the user to render for.')),
  data: Type.Optional(
    FreeForm(SCOPE_BYTES_MAX, {
      description:
        'Values for the template, such as `{"event": {"data": {"total": 5}}}`. They override the user’s values. Without `user` and `data`, made-up values are used.',
    }),
  ),
})
export type PreviewInput = Static<typeof PreviewInput>

export const Preview = Exact({
  locale: Type.String(),
  variant: VariantName,
  content: Nullable(
    Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'The rendered message; null if no message would be sent.' }),
  ),
  size_bytes: Type.Integer({ description: 'The size of an email’s HTML, or of the whole content for other channels.' }),
  segments: Type.Optional(Segments),
  attachments: Type.Array(PreviewAttachment, { description: 'The files of the stored template.' }),
  findings: Type.Array(Finding),
})
export type Preview = Static<typeof Preview>

export const TestInput = Exact({
  to: Type.Array(Line(255, { description: 'An address for the channel, or the `external_id` of a user.' }), {
    minItems: 1,
    maxItems: RECIPIENTS_MAX,
  }),
  ...choice,
  as: Type.Optional(UserName('The `external_id` of the user to render for. By default each message is rendered for its own recipient.')),
  data: Type.Optional(
    FreeForm(SCOPE_BYTES_MAX, { description: 'The data that the template reads as `event.data`, as with createMessage.' }),
  ),
})
export type TestInput = Static<typeof TestInput>

export const TestReport = Exact({
  results: Type.Array(
    Exact({
      to: Type.String(),
      outcome: OneOf(['accepted', 'rejected', 'deferred', 'uncertain', 'refused'] as const, {
        description: '`refused`: no attempt was made. `uncertain`: the provider may or may not have sent it.',
      }),
      provider: Type.Optional(Type.String()),
      reason: Type.Optional(Type.String({ description: 'Why the message was not accepted.' })),
      content: Type.Optional(RenderedContent),
    }),
    { description: 'In the order of `to`. `content` is the message as stored by a provider that sends nothing, such as the sandbox.' },
  ),
})
export type TestReport = Static<typeof TestReport>
