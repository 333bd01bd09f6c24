import { route } from '../../infra/http/route.ts'
import type { ProviderId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { createProvider, deleteProvider, getProvider, listProviders, providerKinds, testProvider, updateProvider } from './configure.ts'
import { providerListing } from './queries.ts'
import { ConfiguredProvider, ConfiguredProviders, ProviderChanges, ProviderInput, ProviderKinds, ProviderTest } from './schema.ts'

const params = { providerId: pathId<ProviderId>() }

export const providerRoutes = [
  route({
    method: 'GET',
    path: '/api/client/providers/meta',
    summary: 'List the kinds of provider, with the JSON Schema of the settings of each.',
    access: { secret: 'admin' },
    reply: ProviderKinds,
    run: async () => providerKinds(),
  }),
  route({
    method: 'GET',
    path: '/api/client/providers',
    summary: 'List the providers of the project.',
    access: { secret: 'admin' },
    list: providerListing,
    reply: ConfiguredProviders,
    run: (ctx, { page }) => listProviders(ctx, page),
  }),
  route({
    method: 'POST',
    path: '/api/client/providers',
    summary: 'Configure a provider.',
    description: 'The first of a channel becomes its default. Until a channel has one, its messages go to the sandbox.',
    access: { secret: 'admin' },
    body: ProviderInput,
    reply: ConfiguredProvider,
    status: 201,
    location: (provider) => `/api/client/providers/${provider.id}`,
    run: (ctx, { body }) => createProvider(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/providers/{providerId}',
    summary: 'Read a provider.',
    access: { secret: 'admin' },
    params,
    reply: ConfiguredProvider,
    run: (ctx, { params }) => getProvider(ctx, params.providerId),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/providers/{providerId}',
    summary: 'Change a provider; only the members given change.',
    description: 'Within `settings` too: secrets that are not sent are kept. Making it the default takes that from the other.',
    access: { secret: 'admin' },
    params,
    body: ProviderChanges,
    reply: ConfiguredProvider,
    run: (ctx, { params, body }) => updateProvider(ctx, params.providerId, body),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/providers/{providerId}',
    summary: 'Delete a provider.',
    description:
      'Its secrets are gone at once. Campaigns that named it go to the default of their channel, and without one to the sandbox.',
    access: { secret: 'admin' },
    params,
    status: 204,
    run: (ctx, { params }) => deleteProvider(ctx, params.providerId),
  }),
  route({
    method: 'POST',
    path: '/api/client/providers/{providerId}/test',
    summary: 'Try out whether a provider can be reached and takes the credentials.',
    description: 'Nobody gets a message.',
    access: { secret: 'admin' },
    params,
    reply: ProviderTest,
    run: (ctx, { params }) => testProvider(ctx, params.providerId),
  }),
]
