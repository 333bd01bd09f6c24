import type { Route } from '../../infra/http/route.ts'
import type { DomainResolver } from './domains/dns-check.ts'
import { systemResolver } from './domains/resolver.ts'
import { domainRoutes } from './domains/routes.ts'

/** `resolver` creates the resolver for checks of domains. */
export const trackingRoutes = (resolver: () => DomainResolver = systemResolver): Route[] => domainRoutes(resolver)
