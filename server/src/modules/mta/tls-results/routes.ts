import { route } from '../../../infra/http/route.ts'
import { listTlsCounts, tlsListing } from './queries.ts'
import { TlsResults } from './schema.ts'

export const tlsRoutes = [
  route({
    method: 'GET',
    path: '/api/client/tls-results',
    summary: 'Count deliveries with and without TLS, by day and domain.',
    description:
      'For emails that Carillon delivers itself. `policy` is `tlsa` if the host requires TLS through DANE, and `sts` if the domain requires it through MTA-STS. A failure is counted for each host, and does not mean that the email was not delivered: without a policy, it is then sent without TLS. `domain` is null in rows that are totals: of successes without a policy, and of domains beyond the first 1,000 of a day. Counts are kept for 30 days.',
    access: { secret: 'support' },
    list: tlsListing,
    reply: TlsResults,
    run: (ctx, { page }) => listTlsCounts(ctx, page),
  }),
]
