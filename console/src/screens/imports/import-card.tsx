import type { components } from '@carillon/sdk'
import { Button, Progress } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Code } from '../../parts/code.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { keyOf, useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { useLive } from '../../parts/live/use-live.ts'
import { Loading } from '../../parts/loading.tsx'
import { Num } from '../../parts/number.tsx'
import { minutesLeft } from '../../parts/pace.ts'
import { Card } from '../../parts/page.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { usePace } from '../../parts/use-pace.ts'
import { useApi, useMay, useProject } from '../../session/project.tsx'

type Import = components['schemas']['ListImportReply']

const PATH = '/api/client/lists/{listId}/imports/{importId}'
const COUNTS = ['created', 'updated', 'unchanged', 'skipped', 'failed'] as const
const UNDO_MS = 24 * 3_600_000
const SHOWN_MAX = 20

/** Whether the server still works on an import. */
export const isBusy = ({ state }: Pick<Import, 'state'>): boolean => ['queued', 'running', 'undoing'].includes(state)

/** An import, kept up to date while it is running. */
export function useImport(listId: number, importId: number) {
  const { id } = useProject()
  const client = useQueryClient()
  const path = { path: { listId, importId } }
  const isLive = useLive<{ import: Import } | null>(`import:${importId}`, (state) => {
    if (state === null) return
    const key = keyOf(id, PATH, path)
    const wasBusy = isBusy(client.getQueryData<Import>(key) ?? state.import)
    client.setQueryData(key, (known: Import | undefined) => known && { ...known, ...state.import })
    // The first rows of a trial are not part of what is watched.
    if (wasBusy && !isBusy(state.import)) void client.invalidateQueries({ queryKey: keyOf(id, PATH) })
  })
  return useRead(PATH, path, {
    refetchInterval: ({ state }) => (!isLive && (state.data === undefined || isBusy(state.data)) ? LIVE_MS / 2 : false),
  })
}

/** The result of an import: its progress, its rows by outcome, and refused rows with their reasons. */
export function ImportCard({ listId, importId }: { listId: number; importId: number }) {
  const { t } = useTranslation('imports')
  const { data, error, refetch } = useImport(listId, importId)
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  const name = data.filename ?? t('number', { id: data.id })
  return (
    <Card title={name} actions={<Actions listId={listId} of={data} name={name} />}>
      <div className="pad stack">
        <p className="line">
          <Chip state={data.state} reason={data.reason} /> {data.dry_run && <span className="quiet sm">{t('dryRun')}</span>}
        </p>
        {isBusy(data) && <Progress value={100 * data.progress} aria-label={t('progress')} />}
        {data.state === 'running' && <Pace of={data} />}
        <Counts of={data} />
        {data.failed > 0 && !isBusy(data) && <Refused listId={listId} importId={importId} />}
      </div>
    </Card>
  )
}

/** The rows a second since the page was opened, and the time that the others take. */
function Pace({ of: { rows, rows_total } }: { of: Import }) {
  const { t, i18n } = useTranslation('imports')
  const pace = usePace(rows)
  if (pace === null) return null
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 0 })
  return (
    <p className="sm quiet">
      {t('pace', { pace: number.format(pace) })}
      {rows_total !== null && `, ${t('minutesLeft', { count: minutesLeft(rows_total - rows, pace) })}`}
    </p>
  )
}

/** The rows by outcome, and their sum. */
export function Counts({ of }: { of: Import }) {
  const { t } = useTranslation('imports')
  return (
    <dl className="outcomes">
      {COUNTS.map((name) => (
        <div key={name}>
          <dt>{t(`outcome.${name}`)}</dt>
          <dd className={name === 'failed' && of.failed > 0 ? 'tb' : undefined}>
            <Num value={of[name]} />
          </dd>
        </div>
      ))}
      <div>
        <dt>{t('outcome.rows')}</dt>
        <dd>
          <Num value={of.rows} />
        </dd>
      </div>
      <div>
        <dt>{t('outcome.added')}</dt>
        <dd>
          <Num value={of.added} />
        </dd>
      </div>
    </dl>
  )
}

/** Cancels what is going on, and undoes what has ended. */
function Actions({ listId, of, name }: { listId: number; of: Import; name: string }) {
  const { t } = useTranslation('imports')
  const mayChange = useMay('editor')
  const [isUndoing, setUndoing] = useState(false)
  const path = { listId, importId: of.id }
  const cancel = useWrite((api) => api.post('/api/client/lists/{listId}/imports/{importId}/cancel', { path }), ['/api/client/lists'])
  const undo = useWrite(
    (api) => api.post('/api/client/lists/{listId}/imports/{importId}/undo', { path }),
    ['/api/client/lists', '/api/client/users'],
    () => setUndoing(false),
  )
  const canUndo = of.state === 'finished' && !of.dry_run && of.finished_at !== null && Date.now() - Date.parse(of.finished_at) < UNDO_MS
  if (!mayChange) return null
  return (
    <>
      {(of.state === 'queued' || of.state === 'running') && (
        <Button size="xs" variant="default" loading={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
          {t('cancelImport')}
        </Button>
      )}
      {canUndo && (
        <Button size="xs" variant="default" onClick={() => setUndoing(true)}>
          {t('undo.open')}
        </Button>
      )}
      <Confirm
        isOpen={isUndoing}
        onClose={() => setUndoing(false)}
        title={t('undo.title', { name })}
        action={t('undo.action')}
        isPending={undo.isPending}
        error={undo.error}
        onConfirm={() => undo.mutate(undefined)}
      >
        <p>{t('undo.about', { created: of.created, updated: of.updated, added: of.added })}</p>
      </Confirm>
    </>
  )
}

/** The refused rows with the reason for each, and a file with all of them. */
export function Refused({ listId, importId }: { listId: number; importId: number }) {
  const { t } = useTranslation('imports')
  const api = useApi()
  const { id } = useProject()
  const { data: csv, error } = useQuery({
    queryKey: [...keyOf(id, '/api/client/lists/{listId}/imports/{importId}/errors'), listId, importId],
    queryFn: async () => String(await api.get('/api/client/lists/{listId}/imports/{importId}/errors', { path: { listId, importId } })),
  })
  if (error) return <Failed error={error} />
  if (csv === undefined) return <Loading />
  const lines = csv.trimEnd().split('\n')
  const save = () => saveFile({ name: `import-${importId}-refused.csv`, type: 'text/csv', text: csv })
  return (
    <div className="stack">
      <Code text={lines.slice(0, SHOWN_MAX + 1).join('\n')} />
      <div className="acts">
        <Button size="xs" variant="default" onClick={save}>
          {t('refused.save')}
        </Button>
        <span className="quiet sm">{t('refused.about')}</span>
      </div>
    </div>
  )
}
