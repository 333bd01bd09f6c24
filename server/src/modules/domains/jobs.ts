import { createResolver } from '../../infra/outgoing/dns/system.ts'
import { type Job, job } from '../../infra/queue/jobs.ts'
import type { ResolverOf } from './dns-check.ts'
import { CHECK } from './job-names.ts'
import { nextCheckAt } from './queries.ts'
import { checkDueDomains } from './verify.ts'

/** `resolver` creates a resolver for each check. */
export const domainJobs = (resolver: ResolverOf = ({ config }) => createResolver(config)): Job[] => [
  job({ ...CHECK, nextAt: nextCheckAt, run: (ctx) => checkDueDomains(ctx, resolver) }),
]
