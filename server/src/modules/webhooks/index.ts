import type { Job } from '../../infra/jobs.ts'
import type { Route } from '../../infra/route.ts'
export const webhookRoutes: Route[] = []
export const webhookJobs: Job[] = []
