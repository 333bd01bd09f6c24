import type { Reply } from '@carillon/sdk'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { Drawer } from '../../parts/drawer.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Gates } from '../../parts/gates.tsx'
import { Acts } from '../../parts/journeys/acts.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Loading } from '../../parts/loading.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { Time } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'
import type { Editing } from './editing.ts'
import { type Graph, isRoot } from './model/graph.ts'
import { type Journey, STEPS } from './search.ts'
import { Visits } from './visits.tsx'

type Props = { journey: Journey; editing: Editing; userId: string }

const USER = '/api/client/journeys/{journeyId}/users/{userId}'
type Entrance = Reply<typeof USER, 'get'>['entrances'][number]
const TABS = ['way', 'why'] as const

/** What happened to a user in the journey, why, and what may be done about it. It is shown beside the users. */
export function UserDrawer({ journey, editing, userId }: Props) {
  const { t } = useTranslation('journeys')
  const project = String(useProject().id)
  const navigate = useNavigate({ from: '/p/$project/journeys/$journeyId' })
  const [view, setView] = useState<string>('way')
  const path = { journeyId: journey.id, userId }
  return (
    <Drawer
      label={t('drawer.label', { user: userId })}
      heading={userId}
      isRead
      state={
        <Link className="sm" to="/p/$project/users/$userId" params={{ project, userId }}>
          {t('drawer.openUser')}
        </Link>
      }
      actions={<CopyAs label={t('drawer.more')} request={{ method: 'GET', path: USER, params: path }} />}
      onClose={() => void navigate({ search: ({ user: _, ...search }) => search, replace: true, resetScroll: false })}
    >
      <div className="pad tight">
        <TabBar
          isSmall
          label={t('drawer.views')}
          tabs={TABS.map((id) => ({ id, label: t(`drawer.${id}`) }))}
          current={view}
          onChange={setView}
        />
      </div>
      {view === 'way' ? <Entrances journey={journey} editing={editing} userId={userId} /> : <Why journeyId={journey.id} userId={userId} />}
    </Drawer>
  )
}

function Entrances({ journey, editing, userId }: Props) {
  const { t } = useTranslation('journeys')
  const { data, error, refetch } = useRead(USER, { path: { journeyId: journey.id, userId } }, { refetchInterval: 2 * LIVE_MS })
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  if (data.entrances.length === 0)
    return <p className="pad quiet sm">{t(data.held_out_at === undefined ? 'drawer.never' : 'drawer.heldOut')}</p>
  return data.entrances.map((entrance) => (
    <section key={entrance.entrance_id} className="sec">
      <p className="entry sm">
        <Chip state={entrance.outcome ?? 'active'} reason={entrance.reason ?? null} /> {t('drawer.entered')}{' '}
        <Time at={entrance.entered_at} /> · {entrance.cause.name ?? entrance.cause.is} · {t('version', { version: entrance.version })}
      </p>
      <Visits visits={entrance.visits} editing={editing} />
      {entrance.outcome === null && <ActsOf journeyId={journey.id} editing={editing} userId={userId} entrance={entrance} />}
    </section>
  ))
}

type ActsProps = { journeyId: number; editing: Editing; userId: string; entrance: Entrance }

/** What may be done about an entrance. The user can be moved to the steps of the version in which they are, which the draft may not have. */
function ActsOf({ journeyId, editing: { words, numbers }, userId, entrance }: ActsProps) {
  const { data = {} } = useRead(STEPS, { path: { journeyId }, query: { version: String(entrance.version) } })
  const steps = Object.entries(data as unknown as Graph).flatMap(([value, step]) =>
    isRoot(step) ? [] : [{ value, label: `${numbers.get(value) ?? '–'} ${words(step).title}` }],
  )
  return <Acts journeyId={journeyId} userId={userId} entrance={entrance} steps={steps} />
}

/** Why the user entered, or did not: the checks of each fact, and those that no fact is needed for. */
function Why({ journeyId, userId }: { journeyId: number; userId: string }) {
  const { t } = useTranslation('journeys')
  const { data, error, refetch } = useRead(
    '/api/client/journeys/{journeyId}/users/{userId}/explain',
    { path: { journeyId, userId } },
    { staleTime: 0 },
  )
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  const gates = (checks: { check: string; passed: boolean; seen?: unknown }[]) =>
    checks.map(({ check, passed, seen }) => ({
      id: check,
      passes: passed,
      label: <code>{check}</code>,
      ...(seen !== undefined && { found: JSON.stringify(seen) }),
    }))
  return (
    <>
      <section className="sec">
        <h3 className="pad tight">{t('why.now')}</h3>
        <Gates gates={gates(data.now.checks)} />
      </section>
      {data.facts.map(({ event, list, at, entrance, checks }) => (
        <section className="sec" key={`${at} ${entrance} ${event ?? list}`}>
          <h3 className="pad tight">
            {event ?? t('why.list', { list })} · <Time at={at} />
          </h3>
          <Gates gates={gates(checks)} />
        </section>
      ))}
      {data.facts.length === 0 && <p className="pad quiet sm">{t('why.none')}</p>}
    </>
  )
}
