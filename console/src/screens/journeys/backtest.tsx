import type { components } from '@carillon/sdk'
import { Button, NumberInput, Select } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Loading } from '../../parts/loading.tsx'
import { Num } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { instant } from '../../parts/time.tsx'
import { useMay } from '../../session/project.tsx'
import type { Editing } from './editing.ts'
import { type Journey, VERSIONS } from './search.ts'

const route = getRouteApi('/member/p/$project/journeys/$journeyId')

type Found = components['schemas']['JourneyBacktestReply']
type Result = NonNullable<Found['result']>
type Props = { journey: Journey; editing: Editing }

const BACKTEST = '/api/client/journeys/{journeyId}/backtests/{backtestId}'
const WINDOWS = [7, 30, 90] as const
const DAY_MS = 86_400_000
const VERSIONS_OFFERED = 50
/** The numbers of a result that add up to no other one. */
const NUMBERS = ['users', 'entrants', 'completed', 'exited', 'active', 'sends', 'inside_at_start'] as const

/** What the journey would have done with what users did in the last weeks. Nothing is written, sent or called. */
export function Backtest({ journey, editing }: Props) {
  const { t } = useTranslation('journeys')
  const { backtest } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/journeys/$journeyId' })
  if (!useMay('editor')) return <p className="quiet">{t('backtest.needsEditor')}</p>
  return (
    <div className="cols halves">
      <Card title={t('backtest.heading')}>
        <Setting journey={journey} onStarted={(backtest) => void navigate({ search: { view: 'backtest', backtest } })} />
      </Card>
      <Card title={t('backtest.result')}>
        {backtest === undefined ? (
          <p className="pad quiet sm">{t('backtest.about')}</p>
        ) : (
          <Started key={backtest} journeyId={journey.id} backtestId={backtest} editing={editing} />
        )}
      </Card>
    </div>
  )
}

function Setting({ journey, onStarted }: { journey: Journey; onStarted: (backtest: number) => void }) {
  const { t } = useTranslation('journeys')
  const path = { journeyId: journey.id }
  const [days, setDays] = useState<number>(30)
  const [version, setVersion] = useState<string | null>(null)
  const [limit, setLimit] = useState<number>()
  const { data: versions } = useRead(VERSIONS, { path, query: { limit: VERSIONS_OFFERED } })
  const start = useWrite(
    (api) =>
      api.post('/api/client/journeys/{journeyId}/backtest', {
        path,
        body: {
          since: new Date(Date.now() - days * DAY_MS).toISOString(),
          ...(version !== null && { version: Number(version) }),
          ...(limit !== undefined && { limit }),
        },
      }),
    [],
    ({ id }) => onStarted(id),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    start.mutate(undefined)
  }
  return (
    <form className="form pad" onSubmit={submit}>
      <Select
        label={t('backtest.window')}
        allowDeselect={false}
        data={WINDOWS.map((count) => ({ value: String(count), label: t('backtest.days', { count }) }))}
        value={String(days)}
        onChange={(value) => setDays(Number(value))}
      />
      <Select
        label={t('backtest.version')}
        description={t('backtest.versionAbout')}
        clearable
        data={(versions?.results ?? []).map(({ version, status }) => ({
          value: String(version),
          label: `${t('version', { version })} · ${status}`,
        }))}
        value={version}
        onChange={setVersion}
      />
      <NumberInput
        label={t('backtest.limit')}
        description={t('backtest.limitAbout')}
        min={1}
        max={1_000_000}
        allowDecimal={false}
        value={limit ?? ''}
        onChange={(value) => setLimit(typeof value === 'number' ? value : undefined)}
      />
      {start.error && <Failed error={start.error} />}
      <div className="acts">
        <Button type="submit" loading={start.isPending}>
          {t('backtest.submit')}
        </Button>
      </div>
    </form>
  )
}

type StartedProps = { journeyId: number; backtestId: number; editing: Editing }

/** A backtest that runs, or what it found. */
function Started({ journeyId, backtestId, editing }: StartedProps) {
  const { t, i18n } = useTranslation('journeys')
  const path = { journeyId, backtestId }
  const [isOver, setOver] = useState(false)
  const { data, error, refetch } = useRead(BACKTEST, { path }, { refetchInterval: isOver ? false : LIVE_MS })
  const cancel = useWrite((api) => api.delete(BACKTEST, { path }), [BACKTEST])
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  if (!isOver && data.state !== 'running') setOver(true)
  const { state, since, until, version, progress, result } = data
  const at = (at: string) => instant(i18n.language, { at })
  return (
    <div aria-live="polite">
      <p className="entry sm">
        <Chip state={state} /> {t('backtest.of', { since: at(since), until: at(until) })}
        {version !== undefined && ` · ${t('version', { version })}`}
      </p>
      {state === 'running' && (
        <div className="pad form">
          <p className="sm">
            {progress.users_total === null
              ? t('backtest.counting')
              : t('backtest.progress', { done: progress.users_done, total: progress.users_total })}
          </p>
          {cancel.error && <Failed error={cancel.error} />}
          <div className="acts">
            <Button size="xs" variant="outline" color="ember" loading={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
              {t('backtest.cancel')}
            </Button>
          </div>
        </div>
      )}
      {result && <Numbers result={result} editing={editing} />}
    </div>
  )
}

/** The numbers, who did not enter or got nothing and why, and the steps that users came to. */
function Numbers({ result, editing: { graph, words, numbers } }: { result: Result; editing: Editing }) {
  const { t } = useTranslation('journeys')
  const { steps, refused, skips, excluded, difference, approximate } = result
  const nameOf = (key: string) => (graph[key] ? `${numbers.get(key) ?? '–'} ${words(graph[key]).title}` : key)
  const reasons = { refused, skips, excluded }
  return (
    <>
      <dl className="kv pad">
        {NUMBERS.map((name) => (
          <div key={name}>
            <dt>{t(`backtest.number.${name}`)}</dt>
            <dd>
              <Num value={result[name]} />
            </dd>
          </div>
        ))}
        {Object.entries(reasons).flatMap(([name, counts]) =>
          Object.entries(counts).map(([reason, count]) => (
            <div key={`${name} ${reason}`}>
              <dt>
                {t(`backtest.reasons.${name}`)} <code>{reason}</code>
              </dt>
              <dd>
                <Num value={count} />
              </dd>
            </div>
          )),
        )}
      </dl>
      <div className="pad">
        <table className="rows" aria-label={t('backtest.steps')}>
          <thead>
            <tr>
              <th>{t('backtest.step')}</th>
              <th className="num">{t('backtest.entered')}</th>
              <th className="num">{t('backtest.left')}</th>
              <th className="num">{t('backtest.live')}</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(steps).map(([key, { entered, left }]) => (
              <tr key={key}>
                <th scope="row">{nameOf(key)}</th>
                <td className="num">
                  <Num value={entered} />
                </td>
                <td className="num">
                  <Num value={left} />
                </td>
                <td className="num">
                  <Num value={difference[key]?.live ?? entered} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {approximate.length > 0 && <p className="pad sm quiet">{t('backtest.approximate', { parts: approximate.join(', ') })}</p>}
    </>
  )
}
