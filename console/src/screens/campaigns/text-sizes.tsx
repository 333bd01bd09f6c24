import type { CarillonError, components } from '@carillon/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { keyOf } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { useApi, useProject } from '../../session/project.tsx'

const PATH = '/api/client/campaigns/{campaignId}/text-sizes'

type Sizes = components['schemas']['TextSizes']
type Input = components['schemas']['CampaignTextSizeInput']

/**
 * How long a text message is for users who would get it, and what it costs. Without a template in `input`, the stored ones are measured.
 */
export function TextSizes({ campaignId, input, version }: { campaignId: number; input: Input; version?: string }) {
  const { t } = useTranslation('campaigns')
  const api = useApi()
  const { id } = useProject()
  const { data, error } = useQuery<Sizes, CarillonError>({
    queryKey: keyOf(id, PATH, { campaignId, input, version }),
    queryFn: ({ signal }) => api.post(PATH, { path: { campaignId }, body: input, signal }),
    placeholderData: keepPreviousData,
  })
  return (
    <Card title={t('sizes.heading')}>
      {/* What is wrong with a template is said beside its fields. */}
      {error && error.status !== 422 && <Failed error={error} />}
      {!data && !error && <Loading />}
      {data && <Measured sizes={data} />}
    </Card>
  )
}

function Measured({ sizes }: { sizes: Sizes }) {
  const { t } = useTranslation('campaigns')
  const { users, failed, unicode, characters, segments, shares } = sizes
  if (!characters || !segments) return <p className="pad sm quiet">{t(failed > 0 ? 'sizes.allFail' : 'sizes.none')}</p>
  return (
    <>
      <dl className="kv pad">
        <Fact name={t('sizes.half')}>{t('sizes.upTo', { count: segments.p50, characters: characters.p50 })}</Fact>
        <Fact name={t('sizes.longest')}>
          {t('sizes.of', { count: segments.max, characters: characters.max })}
          <Longest sizes={sizes} />
        </Fact>
        <Cost sizes={sizes} />
      </dl>
      <table className="rows plain-rows" aria-label={t('sizes.table')}>
        <thead>
          <tr>
            <th scope="col">{t('sizes.segments')}</th>
            <th scope="col" className="num">
              {t('sizes.users')}
            </th>
          </tr>
        </thead>
        <tbody>
          {shares.map(({ segments, users: some }) => (
            <tr key={segments}>
              <td>
                <Num value={segments} />
              </td>
              <td className="num">
                <Rate part={some} whole={users} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="pad sm quiet">
        {[
          t('sizes.sample', { count: users }),
          unicode > 0 && t('sizes.unicode', { count: unicode }),
          failed > 0 && t('sizes.failed', { count: failed }),
        ]
          .filter(Boolean)
          .join(' ')}
      </p>
    </>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)

function Longest({ sizes: { longest } }: { sizes: Sizes }) {
  const { id } = useProject()
  if (!longest?.external_id) return null
  return (
    <>
      {': '}
      <Link to="/p/$project/users/$userId" params={{ project: String(id), userId: longest.external_id }}>
        {longest.external_id}
      </Link>
    </>
  )
}

/** So many digits after the point that a part of a cent is seen. */
const DIGITS = 4

function Cost({ sizes: { cost, recipients } }: { sizes: Sizes }) {
  const { t, i18n } = useTranslation('campaigns')
  if (!cost) return <Fact name={t('sizes.cost')}>{t('sizes.noPrice')}</Fact>
  const { currency } = cost
  const money = (amount: number, maximumFractionDigits: number) =>
    new Intl.NumberFormat(i18n.language, { style: 'currency', currency, currencyDisplay: 'code', maximumFractionDigits }).format(amount)
  const each = money(cost.per_message, DIGITS)
  return (
    <Fact name={t('sizes.cost')}>
      {cost.total === null || recipients === null
        ? t('sizes.each', { each })
        : t('sizes.total', {
            total: money(cost.total, 2),
            each,
            count: recipients,
            number: new Intl.NumberFormat(i18n.language).format(recipients),
          })}
    </Fact>
  )
}
