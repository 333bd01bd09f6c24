import { Type } from 'typebox'
import { audits } from '../../infra/http/audited.ts'
import { type Download, route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { missing } from '../../lib/errors.ts'
import type { ErasureId, UserId } from '../../lib/ids.ts'
import { pathAttribute, pathId, pathUser, pathUserOrId } from '../../lib/path-params.ts'
import { ROLES } from '../../lib/roles.ts'
import { Exact, Line, Nullable, OneOf, Page } from '../../lib/shapes.ts'
import type { Written } from '../../lib/written.ts'
import { mintUserToken } from '../keys/index.ts'
import { attributesInUse } from './attribute-profiles/attributes-in-use.ts'
import { AttributesInUse } from './attribute-profiles/schema.ts'
import { ownerByIds, ownerByToken } from './devices/owner.ts'
import { deleteUser, type EraseElsewhere, getErasure } from './erasure.ts'
import { UserExport } from './export.ts'
import { namedUser } from './named-user.ts'
import { userListing } from './pages.queries.ts'
import { BatchQuery, BatchResult, Device, DeviceInput, Erasure, Session, User, UserBatch, UserDetails, UserWithDevices } from './schema.ts'
import {
  deleteAttribute,
  type FindSuppressions,
  getMe,
  getUser,
  listAttributes,
  registerDevice,
  requireUser,
  saveAttribute,
  writeUserPage,
} from './service.ts'

const params = { userId: pathUser }

const AttributeInput = Exact({
  min_role: Type.Optional(Nullable(OneOf(ROLES, { description: 'The lowest role that can read it.' }))),
  hidden: Type.Optional(Type.Boolean({ description: 'If true, no key can read the attribute.' })),
  end_user: Type.Optional(Type.Boolean({ description: 'If true, a user token can read the attribute.' })),
  label: Type.Optional(Nullable(Line(64, { description: 'The name that your team uses. The console shows it beside the attribute.' }))),
  personal_data: Type.Optional(
    Type.Boolean({ description: 'Whether it is personal data. If so, and without `min_role`, keys of the role `support` cannot read it.' }),
  ),
})
const Attribute = Exact({
  key: Type.String(),
  min_role: Nullable(Type.String()),
  hidden: Type.Boolean(),
  end_user: Type.Boolean(),
  label: Nullable(Type.String({ description: 'The name that your team uses.' })),
  personal_data: Type.Boolean({ description: 'Whether it is personal data.' }),
})

const attributeAudit = audits('attribute', {
  keyOf: ({ params }) => String(params.key),
  read: async (ctx: ProjectCtx, key) => {
    const found = (await listAttributes(ctx)).find((rule) => rule.key === key)
    if (!found) throw missing('attribute')
    return found
  },
})

/** Verbs that need other modules: what they store about merged users moves too. */
type Verbs = EraseElsewhere & {
  saveUsers(ctx: ProjectCtx, items: unknown[], options: { isImport: boolean }): Promise<Written<BatchResult>>
  suppressionsOf: FindSuppressions
  exportUser(ctx: ProjectCtx, name: string): Promise<Download>
}

export const userRoutes = ({ saveUsers, suppressionsOf, exportUser, ...elsewhere }: Verbs) => [
  route({
    method: 'POST',
    path: '/api/client/users/batch',
    summary: 'Create or update up to 100 users and report on each one.',
    description: 'Items are applied in order. An invalid item is reported, and the others are saved.',
    access: { secret: 'editor' },
    audit: { none: 'users are not configuration' },
    essential: true,
    query: BatchQuery,
    body: UserBatch,
    reply: BatchResult,
    run: (ctx, { query, body }) => saveUsers(ctx, body, { isImport: query.import === 'true' }),
  }),
  route({
    method: 'GET',
    path: '/api/client/users',
    summary: 'List users.',
    description: '`q` finds a substring of `external_id`, `email`, `phone` or `anonymous_id`.',
    access: { secret: 'support' },
    list: userListing,
    reply: Page(User),
    run: (ctx, { page }) => writeUserPage(ctx, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/me',
    summary: 'Read the signed-in user.',
    description: '`data` leaves out the attributes that the register hides from users.',
    access: { publishable: 'user' },
    reply: UserWithDevices,
    run: (ctx) => getMe(ctx, ctx.caller.userId),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}',
    summary: 'Read a user by external id.',
    description:
      'A user without an external id is found by anonymous id. With an organisation key, the user is found by its numeric `id`, in any project of the ' +
      'organisation; the `id` of a merged user finds the one who remains. `suppressions` lists the suppressions of the user’s addresses, with their channels.',
    access: { secret: 'support', organisation: 'admin' },
    params: { userId: pathUserOrId },
    reply: UserDetails,
    run: async (ctx, { params }) => {
      const named = await namedUser(ctx, params.userId)
      return getUser(named.ctx, named.user, suppressionsOf)
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/client/users/{userId}',
    summary: 'Erase a user and all of their data.',
    description:
      'The user disappears from every reply at once. Their data is deleted in the background. `Location` is the path of the receipt, which ' +
      'says when the data was deleted and what was removed. Export the user first if you need the data.',
    access: { secret: 'editor' },
    audit: { none: 'an erasure has a receipt' },
    params,
    status: 204,
    location: (receipt) => `/api/client/users/erasures/${(receipt as Erasure).id}`,
    run: (ctx, { params }) => deleteUser(ctx, params.userId, elsewhere),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/erasures/{erasureId}',
    summary: 'Read the receipt of an erasure.',
    description: 'The receipt contains only numbers and the id of the user. It is never deleted.',
    access: { secret: 'support' },
    params: { erasureId: pathId<ErasureId>() },
    reply: Erasure,
    run: (ctx, { params }) => getErasure(ctx, params.erasureId),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/export',
    summary: 'Export everything about a user.',
    description:
      'The reply is streamed while the data is read, and its members are in the order of the schema. It includes the data of users who were merged into this ' +
      'one, and attributes that the register hides. If the connection breaks, the JSON is incomplete. Push tokens and secrets ' +
      'in headers of webhook steps are left out. A project can run three exports at a time.',
    access: { secret: 'admin' },
    params,
    reply: UserExport,
    errors: ['rate_limited'],
    run: (ctx, { params }) => exportUser(ctx, params.userId),
  }),
  route({
    method: 'POST',
    path: '/api/client/users/{userId}/sessions',
    summary: 'Create a short-lived user token.',
    description: 'Send the token in the header `X-Service-User-Token`, together with a publishable key.',
    access: { secret: 'editor' },
    audit: { none: 'a token of a user is not configuration' },
    params,
    reply: Session,
    status: 201,
    sensitive: true,
    run: async (ctx, { params }) => mintUserToken(ctx, ctx.caller.keyId, (await requireUser(ctx, params.userId)).id),
  }),
  route({
    method: 'POST',
    path: '/api/client/devices',
    summary: 'Register a push device.',
    description:
      'With a secret key, give `external_id` or `anonymous_id`. Each is looked up among ids of its own kind; the `external_id` that replies show for an anonymous user is its `anonymous_id`. With a user token, the device is registered for that user; ids may be left out, or be of that user. A device or push token that belonged to another user moves to this user; a device moves without its token and other values. A member that is left out keeps its value if this user has the device, and null clears it. Push messages go to the 20 devices of a user that were registered last.',
    access: { secret: 'editor', publishable: 'user' },
    audit: { none: 'devices belong to users' },
    body: DeviceInput,
    reply: Device,
    errors: ['resource_missing'],
    run: async (ctx, { body }) => registerDevice(ctx, await ownerOf(ctx, body), body),
  }),
  route({
    method: 'GET',
    path: '/api/client/attributes',
    summary: 'List the attribute register.',
    description:
      'The register sets which roles can read a key of `data`, its label, and whether it is personal data. Every role can read a key that is not in the register.',
    access: { secret: 'admin' },
    reply: Exact({ results: Type.Array(Attribute) }),
    run: async (ctx) => ({
      results: (await listAttributes(ctx)).map(({ key, min_role, is_hidden, is_end_user, label, is_personal }) => ({
        key,
        min_role,
        hidden: is_hidden,
        end_user: is_end_user,
        label,
        personal_data: is_personal,
      })),
    }),
  }),
  route({
    method: 'PUT',
    path: '/api/client/attributes/{key}',
    summary: 'Set the label of an attribute of `data`, which roles can read the attribute, and whether it is personal data.',
    description:
      'A member that is left out gets its default: every role can read the attribute, it is not hidden, user tokens cannot read it, it has no label, and it is not personal data. The attribute need not exist yet.',
    access: { secret: 'admin' },
    audit: attributeAudit('updated'),
    params: { key: pathAttribute },
    body: AttributeInput,
    reply: Attribute,
    run: async (
      ctx,
      { params: { key }, body: { min_role = null, hidden = false, end_user = false, label = null, personal_data = false } },
    ) => {
      await saveAttribute(ctx, key, { min_role, is_hidden: hidden, is_end_user: end_user, label, is_personal: personal_data })
      return { key, min_role, hidden, end_user, label, personal_data }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/client/attributes/{key}',
    summary: 'Delete an attribute from the register, so that every role can read it.',
    description: 'The values of users do not change.',
    access: { secret: 'admin' },
    audit: attributeAudit('deleted'),
    params: { key: pathAttribute },
    status: 204,
    run: (ctx, { params }) => deleteAttribute(ctx, params.key),
  }),
  route({
    method: 'GET',
    path: '/api/client/schema/attributes',
    summary: 'List the attributes that users have.',
    description:
      'The reply has at most 1000 attributes, the most common first, and leaves out those that the key may not read. In a project with more than 5000 users, the figures are from the last full count; `as_of` is its time. Users are counted again every hour while this endpoint is in use.',
    access: { secret: 'support' },
    reply: AttributesInUse,
    run: (ctx) => attributesInUse(ctx),
  }),
]

const ownerOf = (ctx: ProjectCtx, input: DeviceInput): Promise<UserId> =>
  ctx.caller.kind === 'user' ? ownerByToken(ctx, ctx.caller.userId, input) : ownerByIds(ctx, input)
