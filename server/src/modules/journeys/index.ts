import type { Route } from '../../infra/route.ts'
export const journeyRoutes: Route[] = []
