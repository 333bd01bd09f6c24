import { type Static, Type } from 'typebox'
import type { MemberId, OrganisationId, ProjectId, SessionId } from '../../lib/ids.ts'
import { ORGANISATION_ROLES, ROLES } from '../../lib/roles.ts'
import { Exact, IdOf, Instant, Line, Name, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

const EMAIL_LENGTH_MAX = 254
const PASSWORD_LENGTH_MAX = 1024
const LINK_TOKEN_LENGTH_MAX = 255

export const Email = Line(EMAIL_LENGTH_MAX, { minLength: 1, format: 'email', description: 'The email address, in any case.' })
export const NewPassword = Type.String({
  minLength: 1,
  maxLength: PASSWORD_LENGTH_MAX,
  description:
    'At least 12 characters of any kind. It must not be one of the most common passwords, the email address or the name of the product.',
})
const Password = Type.String({ minLength: 1, maxLength: PASSWORD_LENGTH_MAX, description: 'The password.' })
export const LinkToken = Line(LINK_TOKEN_LENGTH_MAX, { minLength: 1, description: 'The part of the link after `#token=`.' })
export const OrganisationRoleName = OneOf(ORGANISATION_ROLES, {
  description: 'The role in the organisation. `admin` and `owner` are `admin` in every project.',
})

export const OwnerInput = Exact({ token: LinkToken, email: Email, name: Name(), password: NewPassword })
export type OwnerInput = Static<typeof OwnerInput>

export const SignInInput = Exact({
  email: Email,
  password: Password,
  code: Type.Optional(Line(64, { minLength: 1, description: 'The code of the second factor, or a recovery code.' })),
})
export type SignInInput = Static<typeof SignInInput>

const Self = Exact(
  { id: IdOf<MemberId>(), email: Type.String({ description: 'The email address.' }), name: Type.String() },
  { description: 'The member who is signed in.' },
)

const OwnProject = Exact({
  id: IdOf<ProjectId>(),
  name: Type.String(),
  role: OneOf(ROLES, { description: 'The role of the member in the project.' }),
  environment: OneOf(['live', 'sandbox'], {
    description: '`sandbox` until the project has a provider: its messages are kept instead of sent.',
  }),
  locale: Type.String(),
  timezone: Type.String(),
})
export type OwnProject = Static<typeof OwnProject>

/** The reply that every page of the console begins with. */
export const ConsoleSession = Exact(
  {
    id: IdOf<SessionId>(),
    member: Self,
    organisation: Exact({ id: IdOf<OrganisationId>(), name: Type.String() }, { description: 'The organisation.' }),
    role: OrganisationRoleName,
    projects: Type.Array(OwnProject, { description: 'The projects in which the member has a role, by name.' }),
    expires_at: Type.Unsafe<Date>({
      type: 'string',
      format: 'date-time',
      description: 'When the session ends if it is not used. Each request moves it, up to a limit.',
    }),
  },
  { title: 'ConsoleSession' },
)
export type ConsoleSession = Static<typeof ConsoleSession>

/** A session in the list of a member’s sessions. */
export const ListedSession = Exact(
  {
    id: IdOf<SessionId>(),
    is_current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
    address: Type.String({ description: 'The IP address of the sign-in.' }),
    user_agent: Type.String({ description: 'The browser, as it named itself.' }),
    created_at: Timestamp,
    used_at: Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When it was last used, to the minute.' }),
    expires_at: Timestamp,
  },
  { title: 'MemberSession' },
)
export type ListedSession = Static<typeof ListedSession>

export const MemberRow = Type.Object({
  id: IdOf<MemberId>(),
  organization_id: IdOf<OrganisationId>(),
  email: Type.String(),
  name: Type.String(),
  role: Type.Unsafe<(typeof ORGANISATION_ROLES)[number]>({ type: 'string' }),
  password_hash: Nullable(Type.String()),
})
export type MemberRow = Static<typeof MemberRow>

/** A session with its member, as requests need it. */
export const SessionRow = Type.Object({
  id: IdOf<SessionId>(),
  member_id: IdOf<MemberId>(),
  organization_id: IdOf<OrganisationId>(),
  name: Type.String(),
  role: Type.Unsafe<(typeof ORGANISATION_ROLES)[number]>({ type: 'string' }),
  is_renewal_due: Type.Boolean(),
  used_at: Instant,
  expires_at: Instant,
})
export type SessionRow = Static<typeof SessionRow>
