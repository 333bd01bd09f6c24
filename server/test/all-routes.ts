import { createInboxStreams } from '../src/modules/inbox/index.ts'
import { allRoutes } from '../src/routes.ts'

/** All routes, for tests that inspect them without calling them. */
export const routes = allRoutes({
  appender: { requireRoom: async () => undefined, append: async () => undefined },
  listening: createInboxStreams(),
})
