import type { Route } from '../../infra/http/route.ts'
import type { DomainResolver } from './domains/dns-check.ts'
import { systemResolver } from './domains/resolver.ts'
import { domainRoutes } from './domains/routes.ts'

/** `resolver` answers the DNS questions of a verification. */
export const trackingRoutes = (resolver: () => DomainResolver = systemResolver): Route[] => domainRoutes(resolver)
