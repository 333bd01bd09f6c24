import { Type } from 'typebox'
import { route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { pathAttribute, pathUser } from '../../lib/path-params.ts'
import { ROLES } from '../../lib/roles.ts'
import { Exact, Nullable, OneOf, Page } from '../../lib/shapes.ts'
import { mintUserToken } from '../keys/index.ts'
import { attributesInUse } from './attribute-profiles/attributes-in-use.ts'
import { AttributesInUse } from './attribute-profiles/schema.ts'
import { userListing } from './queries.ts'
import { BatchResult, Device, DeviceInput, Session, User, UserBatch, UserWithDevices } from './schema.ts'
import {
  deleteAttribute,
  deleteUser,
  getMe,
  getUser,
  listAttributes,
  listUsers,
  registerDevice,
  requireUser,
  saveAttribute,
} from './service.ts'

const params = { userId: pathUser }

const AttributeInput = Exact({
  min_role: Type.Optional(Nullable(OneOf(ROLES, { description: 'Lowest role that sees it.' }))),
  hidden: Type.Optional(Type.Boolean({ description: 'Nobody sees it over the API.' })),
  end_user: Type.Optional(Type.Boolean({ description: 'The user itself may see it.' })),
})
const Attribute = Exact({ key: Type.String(), min_role: Nullable(Type.String()), hidden: Type.Boolean(), end_user: Type.Boolean() })

/** Verbs that need other modules: what they store about merged users moves too. */
type Verbs = { saveUsers(ctx: ProjectCtx, items: unknown[]): Promise<BatchResult> }

export const userRoutes = ({ saveUsers }: Verbs) => [
  route({
    method: 'POST',
    path: '/api/client/users/batch',
    summary: 'Create or update up to 100 users and report on each one.',
    description: 'Items are applied in order; a bad one is reported and its neighbours are saved.',
    access: { secret: 'editor' },
    body: UserBatch,
    reply: BatchResult,
    run: (ctx, { body }) => saveUsers(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/users',
    summary: 'List users.',
    description: '`q` finds a substring of `external_id`, `email`, `phone` or `anonymous_id`.',
    access: { secret: 'support' },
    list: userListing,
    reply: Page(User),
    run: (ctx, { page }) => listUsers(ctx, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/me',
    summary: 'Read the user that the session token is bound to.',
    access: { publishable: 'user' },
    reply: UserWithDevices,
    run: (ctx) => getMe(ctx, ctx.caller.userId),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}',
    summary: 'Read a user by external id.',
    description: 'Somebody who was never identified is found by anonymous id.',
    access: { secret: 'support' },
    params,
    reply: UserWithDevices,
    run: (ctx, { params }) => getUser(ctx, params.userId),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/users/{userId}',
    summary: 'Erase a user and every copy.',
    description: 'The user is gone from every read at once; stored copies are removed in the background.',
    access: { secret: 'editor' },
    params,
    status: 204,
    run: (ctx, { params }) => deleteUser(ctx, params.userId),
  }),
  route({
    method: 'POST',
    path: '/api/client/users/{userId}/sessions',
    summary: 'Mint a short-lived user token.',
    description: 'For the header `X-Service-User-Token` beside a publishable key.',
    access: { secret: 'editor' },
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
      'With a secret key, name the user by `external_id` or `anonymous_id`; with a user token it is that user’s. A device or token that belonged to somebody else moves.',
    access: { secret: 'editor', publishable: 'user' },
    body: DeviceInput,
    reply: Device,
    run: async (ctx, { body }) => registerDevice(ctx, await ownerOf(ctx, body), body),
  }),
  route({
    method: 'GET',
    path: '/api/client/attributes',
    summary: 'List the attribute register.',
    description: 'Who may see which key of `data`; what is not in it is visible to every role.',
    access: { secret: 'admin' },
    reply: Exact({ results: Type.Array(Attribute) }),
    run: async (ctx) => ({
      results: (await listAttributes(ctx)).map(({ key, min_role, is_hidden, is_end_user }) => ({
        key,
        min_role,
        hidden: is_hidden,
        end_user: is_end_user,
      })),
    }),
  }),
  route({
    method: 'PUT',
    path: '/api/client/attributes/{key}',
    summary: 'Say who may see an attribute of `data`.',
    access: { secret: 'admin' },
    params: { key: pathAttribute },
    body: AttributeInput,
    reply: Attribute,
    run: async (ctx, { params: { key }, body: { min_role = null, hidden = false, end_user = false } }) => {
      await saveAttribute(ctx, key, { min_role, is_hidden: hidden, is_end_user: end_user })
      return { key, min_role, hidden, end_user }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/client/attributes/{key}',
    summary: 'Take an attribute out of the register, so that every role sees it.',
    access: { secret: 'admin' },
    params: { key: pathAttribute },
    status: 204,
    run: (ctx, { params }) => deleteAttribute(ctx, params.key),
  }),
  route({
    method: 'GET',
    path: '/api/client/schema/attributes',
    summary: 'List the attributes that users have.',
    description:
      'Up to 1000, those of most users first, without those that the key may not see. In a project of more than 5000 users the figures are those of the last full count, which is made every hour while somebody asks; `as_of` says when.',
    access: { secret: 'support' },
    reply: AttributesInUse,
    run: (ctx) => attributesInUse(ctx),
  }),
]

async function ownerOf(ctx: ProjectCtx, { external_id, anonymous_id }: DeviceInput): Promise<UserId> {
  const name = external_id ?? anonymous_id
  if (ctx.caller.kind === 'user') {
    if (name)
      throw fault(
        'parameter_unknown',
        external_id ? 'external_id' : 'anonymous_id',
        'With a user token the device is that user’s; leave the ids out.',
      )
    return ctx.caller.userId
  }
  if (!name) throw fault('parameter_missing', 'external_id', 'Name the user by `external_id` or `anonymous_id`.')
  return (await requireUser(ctx, name)).id
}
