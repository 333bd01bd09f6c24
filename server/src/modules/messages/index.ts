import type { Job } from '../../infra/jobs.ts'
import type { Route } from '../../infra/route.ts'
export const messageRoutes: Route[] = []
export const messageJobs = (..._: unknown[]): Job[] => []
export const cancelCampaign = async (..._: unknown[]) => {}
export const deliveryOf = async (..._: unknown[]) => new Map()
export const enqueue = async (..._: unknown[]) => {}
export const mergeMessages = async (..._: unknown[]) => {}
export const eraseMessages = async (..._: unknown[]) => {}
