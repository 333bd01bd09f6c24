import type { components } from '@carillon/sdk'
import { Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Acts } from '../../parts/journeys/acts.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'

type Place = components['schemas']['UserJourneyList']['results'][number]

/** The journeys in which the user is, with the step, and what may be done about it. */
export function Journeys({ userId }: { userId: string }) {
  const { t } = useTranslation('users')
  const { data, error, refetch } = useRead(
    '/api/client/users/{userId}/journeys',
    { path: { userId } },
    // A user in no journey is not asked about again and again.
    { refetchInterval: ({ state }) => (state.data?.results.length ? LIVE_MS : false) },
  )
  if (data?.results.length === 0) return null
  return (
    <Card title={t('journeys.heading')}>
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {data?.results.map((place) => (
        <InJourney key={place.entrance_id} userId={userId} place={place} />
      ))}
    </Card>
  )
}

function InJourney({ userId, place }: { userId: string; place: Place }) {
  const { t } = useTranslation('users')
  const project = String(useProject().id)
  const { journey_id: journeyId, journey_name, version, step, key, held, parked, entered_at, due_at } = place
  const { data: steps = {} } = useRead('/api/client/journeys/{journeyId}/steps', {
    path: { journeyId },
    query: { version: String(version) },
  })
  const kinds = useRead('/api/client/journeys/meta', undefined, { staleTime: Number.POSITIVE_INFINITY }).data?.steps
  const titleOf = (key: string) => steps[key]?.name || kinds?.[steps[key]?.type ?? '']?.label || key
  const targets = Object.entries(steps).filter(
    ([, { type, data }]) => type !== 'entrance' && !(type === 'exit' && data?.when !== undefined),
  )
  return (
    <section className="sec" aria-label={journey_name}>
      <div className="pad tight sm">
        <Link
          className="link"
          to="/p/$project/journeys/$journeyId"
          params={{ project, journeyId: String(journeyId) }}
          search={{ view: 'users', user: userId }}
        >
          {journey_name}
        </Link>{' '}
        {key !== undefined && <code>{key}</code>} {parked !== undefined && <Chip state="failed" reason={parked} />}{' '}
        {held && <Chip state="paused" />}
        <span className="r">
          {t('journeys.at', { step: titleOf(step) })} · {t('journeys.entered')} <Time at={entered_at} />
          {due_at !== undefined && (
            <>
              {' '}
              · {t('journeys.due')} <Time at={due_at} />
            </>
          )}
        </span>
      </div>
      {/* The texts of journeys come after the page, which stays meanwhile. */}
      <Suspense fallback={null}>
        <Acts journeyId={journeyId} userId={userId} entrance={place} steps={targets.map(([value]) => ({ value, label: titleOf(value) }))} />
      </Suspense>
    </section>
  )
}
