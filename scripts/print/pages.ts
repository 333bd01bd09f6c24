import { apiDescription } from '../../server/src/api-description/index.ts'
import { VERSION } from '../../server/src/lib/versions.ts'
import { createInboxStreams } from '../../server/src/modules/inbox/index.ts'
import { allPages, allRoutes } from '../../server/src/routes.ts'
import { accessPage } from './access.ts'
import { clientTypes } from './client.ts'
import { configurationPage } from './configuration.ts'
import { printSchema } from './schema.ts'
import { webhookEventsPage } from './webhook-events.ts'

/** The generated files, by their path in the repository. */
export async function pages(): Promise<Record<string, string>> {
  const routes = allRoutes({ appender: { requireRoom: async () => {}, append: async () => {} }, listening: createInboxStreams() })
  const description = `${JSON.stringify(apiDescription({ routes, version: VERSION }), null, 2)}\n`
  return {
    'docs/reference/access.md': accessPage(
      routes,
      allPages({ engagementBuffer: { put: () => undefined, flush: async () => undefined, [Symbol.asyncDispose]: async () => undefined } }),
    ),
    'docs/reference/configuration.md': configurationPage(),
    'docs/reference/webhook-events.md': webhookEventsPage(),
    'sdk/src/api.ts': await clientTypes(description),
    'server/openapi.json': description,
    'server/schema.sql': await printSchema(),
  }
}
