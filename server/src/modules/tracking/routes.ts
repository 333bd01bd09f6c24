import type { Route } from '../../infra/http/route.ts'
import { createResolver } from '../../infra/outgoing/dns.ts'
import type { DomainResolver } from './domains/dns-check.ts'
import { domainRoutes } from './domains/routes.ts'

/** `resolver` creates the resolver for checks of domains. */
export const trackingRoutes = (resolver: () => DomainResolver = createResolver): Route[] => domainRoutes(resolver)
