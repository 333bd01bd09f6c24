import { type Static, Type } from 'typebox'
import { Exact, IdOf, Nullable, OneOf, Page, Timestamp } from '../../../lib/shapes.ts'
import { TLS_POLICIES, TLS_RESULTS } from './results.ts'

type TlsCountId = number & { readonly kind: 'tls result' }

export const TlsResultCount = Exact(
  {
    id: IdOf<TlsCountId>(),
    day: Type.Unsafe<Date>({ ...Timestamp, description: 'The start of the day, in UTC.' }),
    domain: Nullable(Type.String({ description: 'The domain of the recipients; null for the total of several domains.' })),
    policy: OneOf(TLS_POLICIES, {
      description: '`tlsa`: the host requires TLS through DANE. `sts`: the domain requires it through MTA-STS.',
    }),
    result: OneOf(TLS_RESULTS, { description: '`success`, or the failure type of RFC 8460.' }),
    count: Type.Integer({ minimum: 1, description: 'The number of deliveries with this result on that day.' }),
  },
  { title: 'TlsResult' },
)
export type TlsResultCount = Static<typeof TlsResultCount>

export const TlsResults = Page(TlsResultCount)
