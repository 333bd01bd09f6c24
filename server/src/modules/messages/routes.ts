import { policyRoutes } from './policy/routes.ts'
import { sandboxRoutes } from './sandbox/routes.ts'

export const messageRoutes = [...sandboxRoutes, ...policyRoutes]
