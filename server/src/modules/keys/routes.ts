import { audits } from '../../infra/http/audited.ts'
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

const keyAudit = audits('key', { id: 'keyId', read: getKey })

export const keyRoutes = [
  route({
    method: 'POST',
    path: '/api/client/keys',
    summary: 'Create an API key.',
    description: 'Only this reply contains the full `value`.',
    access: { secret: 'admin' },
    audit: keyAudit('created'),
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
    description: 'A project that was created through the API has no key; create its first one here.',
    access: { organisation: 'admin' },
    audit: keyAudit('created'),
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
    summary: 'List the API keys of the project that are not archived.',
    description: 'Values are masked. The last four characters show which key it is.',
    access: { secret: 'admin' },
    list: keyListing,
    reply: Page(Key),
    run: (ctx, { page }) => listKeys(ctx, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/keys/{keyId}',
    summary: 'Read an API key, with its value masked.',
    description: 'Any secret key may read itself. Reading other keys needs the role `admin`.',
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
      'A new scope does not change the value or its prefix. The scope alone decides what the key may do. A published `pk_` key that becomes `secret` is a leaked secret.',
    access: { secret: 'admin' },
    audit: keyAudit('updated'),
    params,
    body: KeyChanges,
    reply: Key,
    run: (ctx, { params, body }) => updateKey(ctx, params.keyId, body),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/keys/{keyId}',
    summary: 'Archive an API key.',
    description: 'All server processes refuse the key within five seconds.',
    access: { secret: 'admin' },
    audit: keyAudit('deleted'),
    params,
    status: 204,
    run: (ctx, { params }) => archiveKey(ctx, params.keyId),
  }),
]
