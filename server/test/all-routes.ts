import { createInboxStreams } from '../src/modules/inbox/index.ts'
import { allRoutes } from '../src/routes.ts'

/** Every endpoint as a value, for those who only look at them. */
export const routes = allRoutes({ appender: { append: async () => undefined }, listening: createInboxStreams() })
