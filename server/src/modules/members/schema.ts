import { type Static, Type } from 'typebox'
import type { MemberId, OrganisationId, PasskeyId, ProjectId, SessionId } from '../../lib/ids.ts'
import { ORGANISATION_ROLES, ROLES } from '../../lib/roles.ts'
import { Changes, Exact, IdOf, Instant, Line, Name, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

const EMAIL_LENGTH_MAX = 254
const PASSWORD_LENGTH_MAX = 1024
const LINK_TOKEN_LENGTH_MAX = 255

const Email = Line(EMAIL_LENGTH_MAX, { minLength: 1, format: 'email', description: 'The email address, in upper or lower case.' })
const NewPassword = Type.String({
  minLength: 1,
  maxLength: PASSWORD_LENGTH_MAX,
  description:
    'At least 12 characters of any kind. It must not be one of the most common passwords, the email address or the name of the product.',
})
const Password = Type.String({ minLength: 1, maxLength: PASSWORD_LENGTH_MAX, description: 'The password.' })
const LinkToken = Line(LINK_TOKEN_LENGTH_MAX, { minLength: 1, description: 'The part of the link after `#token=`.' })
const OrganisationRoleName = OneOf(ORGANISATION_ROLES, {
  description: 'The role in the organisation. Members with the role `admin` or `owner` have the role `admin` in every project.',
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
  has_faults: Type.Boolean({ description: 'Whether its sandbox simulates bounces, complaints or delays.' }),
  locale: Type.String(),
  timezone: Type.String(),
})
export type OwnProject = Static<typeof OwnProject>

/** The organisation of a member. */
export const Organisation = Exact(
  { id: IdOf<OrganisationId>(), name: Type.String() },
  { title: 'Organisation', description: 'The organisation.' },
)
export const OrganisationChanges = Exact({ name: Name() }, { title: 'OrganisationChanges' })

/** The reply that every page of the console begins with. */
export const ConsoleSession = Exact(
  {
    id: IdOf<SessionId>(),
    member: Self,
    organisation: Organisation,
    role: OrganisationRoleName,
    projects: Type.Array(OwnProject, { description: 'The projects in which the member has a role, by name.' }),
    expires_at: Type.Unsafe<Date>({
      type: 'string',
      format: 'date-time',
      description: 'When the session ends unless it is used before then. Each request extends it, up to a limit.',
    }),
  },
  { title: 'ConsoleSession' },
)
export type ConsoleSession = Static<typeof ConsoleSession>

const MemberProjects = Type.Array(
  Exact({ project_id: IdOf<ProjectId>(), role: OneOf(ROLES, { description: 'The role of the member in the project.' }) }),
  { maxItems: 1000, description: 'The project roles of a `member`. An `admin` or `owner` needs none.' },
)
const Passwords = {
  current_password: Type.String({ minLength: 1, maxLength: PASSWORD_LENGTH_MAX, description: 'Your current password.' }),
}

export const MemberInput = Exact({
  email: Email,
  name: Name(),
  role: OrganisationRoleName,
  projects: Type.Optional(MemberProjects),
})
export type MemberInput = Static<typeof MemberInput>

export const MemberChanges = Changes({ name: Name(), role: OrganisationRoleName, projects: MemberProjects })
export type MemberChanges = Static<typeof MemberChanges>

const member = {
  id: IdOf<MemberId>(),
  email: Type.String({ description: 'The email address.' }),
  name: Type.String(),
  role: OrganisationRoleName,
}

/** A member in replies. */
export const Member = Exact(
  {
    ...member,
    projects: MemberProjects,
    is_invited: Type.Boolean({ description: 'Whether the invitation has not been accepted yet.' }),
    has_totp: Type.Boolean({ description: 'Whether one-time codes are set up.' }),
    has_passkey: Type.Boolean({ description: 'Whether the member has a passkey.' }),
    joined_at: Nullable(Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When the invitation was accepted.' })),
    active_at: Nullable(
      Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When the member last used the console, to within a minute.' }),
    ),
    created_at: Timestamp,
  },
  { title: 'Member' },
)
export type Member = Static<typeof Member>

export const Invitation = Exact(
  {
    ...Member.properties,
    invitation_url: Type.String({
      description: 'The invitation link. It is shown once, and can be used once, within seven days.',
    }),
    is_mailed: Type.Boolean({ description: 'Whether the link is also emailed to the member.' }),
  },
  { title: 'Invitation' },
)
export type Invitation = Static<typeof Invitation>

export const AcceptInput = Exact({ token: LinkToken, name: Type.Optional(Name()), password: NewPassword })
export type AcceptInput = Static<typeof AcceptInput>

export const Profile = Exact(
  {
    ...member,
    has_password: Type.Boolean({ description: 'Whether the member has a password.' }),
    has_totp: Type.Boolean({ description: 'Whether one-time codes are set up.' }),
    has_passkey: Type.Boolean({ description: 'Whether the member has a passkey.' }),
    recovery_codes_left: Type.Integer({ description: 'How many recovery codes have not been used.' }),
  },
  { title: 'Profile' },
)
export type Profile = Static<typeof Profile>

export const ProfileChanges = Changes({ name: Name() })
export type ProfileChanges = Static<typeof ProfileChanges>

export const PasswordChange = Exact({ ...Passwords, password: NewPassword })
export type PasswordChange = Static<typeof PasswordChange>

export const PasswordProof = Exact({
  current_password: Type.Optional({
    ...Passwords.current_password,
    description: 'Your current password. Members without one must have signed in within the last ten minutes.',
  }),
})
export const CodeInput = Exact({ code: Line(64, { minLength: 1, description: 'A code from the authenticator app.' }) })
export const LostPassword = Exact({ email: Email })
export const PasswordReset = Exact({ token: LinkToken, password: NewPassword })

export const TotpSecret = Exact({
  secret: Type.String({ description: 'The secret in base32, for typing.' }),
  url: Type.String({ description: 'The secret as an `otpauth:` URL, for a QR code.' }),
})
export const RecoveryCodes = Exact({
  recovery_codes: Type.Array(Type.String(), {
    description: 'Recovery codes. Each can be used once instead of a one-time code. They are shown only once.',
  }),
})
/** Where the browser goes, and what it keeps until it comes back. */
export const SingleSignOnStart = Exact({
  url: Type.String({ description: 'The URL of the provider’s sign-in page.' }),
  binding: Type.String({
    description: 'A value that the browser keeps and sends with the provider’s reply, so that no other browser can complete this sign-in.',
  }),
})
export type SingleSignOnStart = Static<typeof SingleSignOnStart>

export const SingleSignOnAnswer = Exact({
  parameters: Line(8192, {
    minLength: 1,
    description: 'The query of the URL to which the provider redirected, without the question mark.',
  }),
  binding: Line(64, { minLength: 1, description: 'The `binding` from the reply that began the sign-in.' }),
})
export type SingleSignOnAnswer = Static<typeof SingleSignOnAnswer>

export const SignedOut = Exact({
  url: Nullable(
    Type.String({ description: 'The URL at which the member can also sign out of the single sign-on provider. Null for other sessions.' }),
  ),
})

const Base64Url = (maxLength: number, description: string) => Line(maxLength, { minLength: 1, description: `${description} In base64url.` })

const CREDENTIAL_LENGTH_MAX = 1400
const CLIENT_DATA_LENGTH_MAX = 8192

const fromBrowser = {
  credential_id: Base64Url(CREDENTIAL_LENGTH_MAX, 'The id of the credential.'),
  client_data: Base64Url(CLIENT_DATA_LENGTH_MAX, 'The `clientDataJSON` of the browser.'),
}

/** What an authenticator made, in the words of WebAuthn. */
export const PasskeyInput = Exact({
  name: Name({ description: 'A name to show in the list of passkeys.' }),
  ...fromBrowser,
  attestation: Base64Url(65_536, 'The `attestationObject` of the authenticator.'),
  transports: Type.Optional(Type.Array(Line(32), { maxItems: 10, description: 'How the browser reaches the authenticator.' })),
})
export type PasskeyInput = Static<typeof PasskeyInput>

/** What an authenticator signed. */
export const PasskeyAnswer = Exact({
  ...fromBrowser,
  authenticator_data: Base64Url(8192, 'The `authenticatorData`.'),
  signature: Base64Url(8192, 'The signature.'),
  user_handle: Base64Url(128, 'The `userHandle` that the authenticator stores.'),
})
export type PasskeyAnswer = Static<typeof PasskeyAnswer>

export const PasskeyOptions = Exact({
  options: Type.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description: 'Options for `navigator.credentials`, in the JSON format of WebAuthn.',
  }),
})
export type PasskeyOptions = Static<typeof PasskeyOptions>

export const Passkey = Exact(
  {
    id: IdOf<PasskeyId>(),
    name: Type.String(),
    created_at: Timestamp,
    used_at: Nullable(
      Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When the passkey was last used to sign in.' }),
    ),
  },
  { title: 'Passkey' },
)
export type Passkey = Static<typeof Passkey>

export const NewPasskey = Exact({
  ...Passkey.properties,
  recovery_codes: Type.Array(Type.String(), {
    description:
      'Recovery codes. Each can be used once if the passkey is lost. They are shown only once, with the member’s first second factor; otherwise the array is empty.',
  }),
})
export type NewPasskey = Static<typeof NewPasskey>

export const WaysIn = Exact({
  local: Type.Boolean({ description: 'Whether members sign in with the passwords and passkeys of this server.' }),
  single_sign_on: Nullable(Type.String({ description: 'The name of the single sign-on provider, for its button; null if there is none.' })),
  can_mail: Type.Boolean({ description: 'Whether the server can email a password link to a member.' }),
  passkey_origin: Nullable(
    Type.String({
      description:
        'The origin of the pages on which passkeys work; null if they do not work. Passkeys need a `BASE_URL` with HTTPS and a host name, or with localhost.',
    }),
  ),
})

export const MemberRow = Type.Object({
  id: IdOf<MemberId>(),
  organization_id: IdOf<OrganisationId>(),
  email: Type.String(),
  name: Type.String(),
  role: Type.Unsafe<(typeof ORGANISATION_ROLES)[number]>({ type: 'string' }),
  password_hash: Nullable(Type.String()),
  joined_at: Nullable(Instant),
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
