import { route } from '../../infra/http/route.ts'
import type { KeyId, ProjectId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { findProject } from '../projects/index.ts'
import { keyListing } from './queries.ts'
import { Key, KeyChanges, KeyCreate } from './schema.ts'
import { archiveKey, createKey, getKey, listKeys, updateKey } from './service.ts'

const params = { keyId: pathId<KeyId>() }
const location = (key: Key) => `/api/client/keys/${key.id}`

export const keyRoutes = [
  route({
    method: 'POST',
    path: '/api/client/keys',
    summary: 'Create an API key.',
    description: 'The full `value` is in this answer and nowhere else.',
    access: { secret: 'admin' },
    body: KeyCreate,
    reply: Key,
    status: 201,
    location,
    sensitive: true,
    run: async (ctx, { body }) => createKey(ctx, (await findProject(ctx, ctx.projectId)).organization_id, ctx.projectId, body),
  }),
  route({
    method: 'POST',
    path: '/api/client/projects/{projectId}/keys',
    summary: 'Create an API key for a project of the organisation.',
    description: 'How a project that was made over the API gets its first key.',
    access: { organisation: 'admin' },
    params: { projectId: pathId<ProjectId>() },
    body: KeyCreate,
    reply: Key,
    status: 201,
    location,
    sensitive: true,
    run: async (ctx, { params, body }) => {
      const project = await findProject(ctx, params.projectId, ctx.organisationId)
      return createKey(ctx, ctx.organisationId, project.id, body)
    },
  }),
  route({
    method: 'GET',
    path: '/api/client/keys',
    summary: 'List the live API keys of the project.',
    access: { secret: 'admin' },
    list: keyListing,
    reply: Page(Key),
    run: (ctx, { page }) => listKeys(ctx, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/keys/{keyId}',
    summary: 'Read an API key, with its value masked.',
    description: 'Any key may read itself; others take the role `admin`.',
    access: { secret: 'admin', ownKey: true },
    params,
    reply: Key,
    run: (ctx, { params }) => getKey(ctx, params.keyId),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/keys/{keyId}',
    summary: 'Change the name, description, scope or role of an API key.',
    description:
      'The value stays. A key keeps its prefix when its scope changes; the scope alone decides what it may do, so a leaked `pk_` key that is made `secret` is a leaked secret.',
    access: { secret: 'admin' },
    params,
    body: KeyChanges,
    reply: Key,
    run: (ctx, { params, body }) => updateKey(ctx, params.keyId, body),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/keys/{keyId}',
    summary: 'Archive an API key.',
    description: 'It stops working at once here and within five seconds on every other process.',
    access: { secret: 'admin' },
    params,
    status: 204,
    run: (ctx, { params }) => archiveKey(ctx, params.keyId),
  }),
]
