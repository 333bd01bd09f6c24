import { Menu } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Archive as ArchiveObject } from '../../parts/archive.tsx'
import { Chip } from '../../parts/chip.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Loading } from '../../parts/loading.tsx'
import { Num } from '../../parts/number.tsx'
import { PageHead } from '../../parts/page.tsx'
import { type EditLock, useEditLock } from '../../parts/presence.tsx'
import { SaveState } from '../../parts/save-state.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { Backtest } from './backtest.tsx'
import { Controls } from './controls.tsx'
import { type Editing, useEditing } from './editing.ts'
import { Editor } from './editor.tsx'
import { hideSecrets } from './model/secrets.ts'
import { Publish } from './publish.tsx'
import { JOURNEY, type Journey, type Meta, STEPS, type Statistics, VIEWS, type View } from './search.ts'
import { Settings } from './settings.tsx'
import { Simulator } from './simulator.tsx'
import { Users } from './users.tsx'
import { Versions } from './versions.tsx'

const route = getRouteApi('/member/p/$project/journeys/$journeyId')

/** A journey: its steps, its users, what would happen to a user, and its versions. */
export function JourneyPage() {
  const journeyId = Number(route.useParams().journeyId)
  const path = { path: { journeyId } }
  // The version of a reply is lost in a copy of it.
  const journey = useRead(JOURNEY, path, { refetchInterval: 2 * LIVE_MS, structuralSharing: false })
  const meta = useRead('/api/client/journeys/meta', undefined, { staleTime: Number.POSITIVE_INFINITY })
  const steps = useRead(STEPS, path, { staleTime: Number.POSITIVE_INFINITY })
  const { view = 'build' } = route.useSearch()
  const mayWrite = useMay(journey.data?.status === 'draft' ? 'editor' : 'publisher')
  const isWanted = view === 'build' && mayWrite && journey.data !== undefined
  const lock = useEditLock('journey', journeyId, { isWanted, isLocking: true })
  const failed = [journey, meta, steps].find(({ error, data }) => error && !data)
  if (failed) return <Failed error={failed.error} onRetry={() => void failed.refetch()} />
  if (!journey.data || !meta.data || !steps.data) return <Loading />
  return (
    <Opened key={`${journeyId} ${lock.opened}`} journey={journey.data} meta={meta.data as unknown as Meta} steps={steps.data} lock={lock} />
  )
}

type Props = { journey: Journey; meta: Meta; steps: Readonly<Record<string, object>>; lock: EditLock }

function Opened({ journey, meta, steps, lock }: Props) {
  const { t } = useTranslation('journeys')
  const { view = 'build' } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/journeys/$journeyId' })
  const editing = useEditing(journey, meta, steps, lock.isLocked)
  const path = { path: { journeyId: journey.id } }
  const { data: stats } = useRead('/api/client/journeys/{journeyId}/stats', path, { refetchInterval: 2 * LIVE_MS })
  return (
    <>
      <Head journey={journey} editing={editing} />
      {stats && stats.entered > 0 && <Sums stats={stats} />}
      <TabBar
        label={t('views')}
        tabs={VIEWS.map((id) => ({ id, label: t(`view.${id}`) }))}
        current={view}
        onChange={(id) => void navigate({ search: id === 'build' ? {} : { view: id as View } })}
      />
      {view === 'build' ? (
        <Editor journeyId={journey.id} editing={editing} stats={stats} lock={lock} />
      ) : (
        <div className="after">
          {view === 'settings' && <Settings journey={journey} schema={meta.settings} />}
          {view === 'users' && <Users journey={journey} editing={editing} />}
          {view === 'simulate' && <Simulator journey={journey} editing={editing} />}
          {view === 'backtest' && <Backtest journey={journey} editing={editing} />}
          {view === 'versions' && <Versions journey={journey} />}
        </div>
      )}
    </>
  )
}

function Head({ journey, editing }: { journey: Journey; editing: Editing }) {
  const { t } = useTranslation('journeys')
  const { id, name, status, is_held, live_version, description } = journey
  const mayWrite = useMay(status === 'draft' ? 'editor' : 'publisher')
  const [isArchiving, setArchiving] = useState(false)
  return (
    <>
      <PageHead
        title={name}
        crumb={name}
        about={
          <span className="ids">
            <Chip state={status} />
            {is_held && <Chip state="paused" />}
            <span>
              {live_version === undefined
                ? t(editing.isBornLive ? 'bornLive' : 'neverPublished')
                : t('versionLive', { version: live_version })}
              {live_version !== undefined && editing.hasDraft && ` · ${t('hasDraft')}`}
              {description && ` · ${description}`}
            </span>
          </span>
        }
        actions={
          <>
            {editing.mayWrite && <SaveState autosave={editing.autosave} />}
            <CopyAs
              label={t('moreOf', { name })}
              request={{ method: 'PUT', path: STEPS, params: { journeyId: id }, body: hideSecrets(editing.graph) }}
              audited={{ type: 'journey', id }}
            >
              {mayWrite && (
                <Menu.Item color="ember" onClick={() => setArchiving(true)}>
                  {t('archive.open')}
                </Menu.Item>
              )}
            </CopyAs>
            <Controls journey={journey} />
            <Publish journey={journey} editing={editing} />
          </>
        }
      />
      <Archive journey={journey} isOpen={isArchiving} onClose={() => setArchiving(false)} />
    </>
  )
}

/** How many users entered, and where they are: numbers that add up. */
function Sums({ stats: { entered, active, completed, exited } }: { stats: Statistics }) {
  const { t, i18n } = useTranslation('journeys')
  const number = new Intl.NumberFormat(i18n.language)
  const parts = { active, completed, exited }
  return (
    <section className="card inwho" aria-label={t('sums')}>
      <span>
        <b>
          <Num value={entered} />
        </b>{' '}
        {t('count.entered')}
      </span>
      {Object.entries(parts).map(([name, value]) => (
        <span key={name}>
          <b>
            <Num value={value} />
          </b>{' '}
          {t(`count.${name}`)}
        </span>
      ))}
      <span className="quiet">
        {Object.values(parts)
          .map((value) => number.format(value))
          .join(' + ')}{' '}
        = {number.format(active + completed + exited)}
      </span>
    </section>
  )
}

function Archive({ journey: { id, name, stats }, isOpen, onClose }: { journey: Journey; isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('journeys')
  const project = String(useProject().id)
  const navigate = useNavigate()
  return (
    <ArchiveObject
      kind="journey"
      object={{ id, name }}
      isOpen={isOpen}
      onClose={onClose}
      title={t('archive.title', { name })}
      action={t('archive.action')}
      changes={['/api/client/journeys']}
      leave={() => navigate({ to: '/p/$project/journeys', params: { project }, ignoreBlocker: true })}
      done={t('archive.done', { name })}
    >
      <p>{t('archive.about', { count: stats.active ?? 0 })}</p>
    </ArchiveObject>
  )
}
