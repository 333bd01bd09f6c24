import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { ProviderId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { createProvider, deleteProvider, getProvider, listProviders, providerKinds, testProvider, updateProvider } from './configure.ts'
import { faultRoutes } from './fault-routes.ts'
import { providerListing } from './queries.ts'
import { ConfiguredProvider, ConfiguredProviders, ProviderChanges, ProviderInput, ProviderKinds, ProviderTest } from './schema.ts'

const params = { providerId: pathId<ProviderId>() }

const providerAudit = audits('provider', { id: 'providerId', read: getProvider })

export const providerRoutes = [
  ...faultRoutes,
  route({
    method: 'GET',
    path: '/api/client/providers/meta',
    summary: 'List the kinds of provider, with the JSON Schema of their settings.',
    description: 'Use this to build forms: `settings` is the JSON Schema of the settings of a kind of provider.',
    access: { secret: 'admin' },
    translated: true,
    reply: ProviderKinds,
    run: async ({ language }) => providerKinds(language),
  }),
  route({
    method: 'GET',
    path: '/api/client/providers',
    summary: 'List the providers of the project.',
    description: 'Secrets are left out of the settings; `has_secrets` names those that are set.',
    access: { secret: 'admin' },
    list: providerListing,
    reply: ConfiguredProviders,
    run: (ctx, { page }) => listProviders(ctx, page),
  }),
  route({
    method: 'POST',
    path: '/api/client/providers',
    summary: 'Create a provider.',
    description: 'The first provider of a channel becomes its default. Without a provider, the messages of a channel go to the sandbox.',
    access: { secret: 'admin' },
    audit: providerAudit('created'),
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
    description: 'Secrets are left out of the settings; `has_secrets` names those that are set.',
    access: { secret: 'admin' },
    params,
    reply: ConfiguredProvider,
    run: (ctx, { params }) => getProvider(ctx, params.providerId),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/providers/{providerId}',
    summary: 'Change a provider.',
    description:
      'Settings that the request does not contain, such as secrets, stay unchanged. With `is_default`, the provider replaces the previous default of the channel.',
    access: { secret: 'admin' },
    audit: providerAudit('updated'),
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
      'Its secrets are deleted at once. Campaigns that use it then send with the default provider of their channel or, if there is none, to the sandbox.',
    access: { secret: 'admin' },
    audit: providerAudit('deleted'),
    params,
    status: 204,
    run: (ctx, { params }) => deleteProvider(ctx, params.providerId),
  }),
  route({
    method: 'POST',
    path: '/api/client/providers/{providerId}/test',
    summary: 'Test the connection and the credentials of a provider.',
    description:
      'No message is sent. For `mta`, the test checks that this server has a public host name (in production), that the name servers answer, that a mail ' +
      'host accepts connections, and that the domain of `default_from` is verified. `message` says what to do about each problem.',
    access: { secret: 'admin' },
    audit: { none: 'a test changes nothing' },
    params,
    records: 'around_call',
    bucket: 'egress',
    reply: ProviderTest,
    run: (ctx, { params }) => testProvider(ctx, params.providerId),
  }),
]
