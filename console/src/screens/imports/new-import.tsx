import { Button } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { isSame } from '../../parts/merge.ts'
import { Card, PageHead } from '../../parts/page.tsx'
import { useProject } from '../../session/project.tsx'
import { Counts, isBusy, Refused, useImport } from './import-card.tsx'
import './imports.css'
import { type Mapping, MappingTable } from './mapping.tsx'
import { type Options, Source } from './source.tsx'

const route = getRouteApi('/member/p/$project/imports/new')
const PATH = '/api/client/lists/{listId}/import'

type Run = { file: File; listId: number; options: Options; mapping: Mapping | null; isDry: boolean }

/** Imports a file: it is chosen, tried without changing anything, mapped, and imported. */
export function NewImport() {
  const { t } = useTranslation('imports')
  const project = String(useProject().id)
  const { list } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/imports/new' })
  const [file, setFile] = useState<File | null>(null)
  const [options, setOptions] = useState<Options>({ updates: true, consentSource: '', subscriptionIds: [] })
  // Both outlive a request that is refused.
  const [last, setLast] = useState<(Run & { id: number }) | null>(null)
  const [changed, setChanged] = useState<Mapping | null>(null)
  const run = useWrite(
    (api, { file, listId, options, mapping, isDry }: Run) =>
      api.post(PATH, {
        path: { listId },
        query: {
          dry_run: isDry ? 'true' : 'false',
          update_existing: options.updates ? 'true' : 'false',
          filename: file.name,
          ...(mapping && { mapping: JSON.stringify(mapping) }),
          ...(options.subscriptionIds.length > 0 && {
            subscription_ids: options.subscriptionIds.join(','),
            consent_source: options.consentSource,
          }),
        },
        headers: { 'content-type': 'text/csv' },
        // The bytes of the file: the server finds out its encoding.
        body: file as unknown as string,
      }),
    ['/api/client/lists'],
    ({ id }, sent) => {
      const { listId, mapping, isDry } = sent
      if (!isDry) return void navigate({ to: '/p/$project/imports', params: { project }, search: { list: listId, import: id } })
      setLast({ ...sent, id })
      setChanged((changed) => (isSame(changed, mapping) ? null : changed))
    },
  )
  const start = (isDry: boolean, mapping: Mapping | null) => {
    if (file && list !== undefined) run.mutate({ file, listId: list, options, mapping, isDry })
  }
  const tried = last && last.file === file && last.listId === list && last.options === options ? last.id : null
  const forget = () => {
    setChanged(null)
    run.reset()
  }
  const afresh =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value)
      forget()
    }
  const isReady = file !== null && list !== undefined && (options.subscriptionIds.length === 0 || options.consentSource.trim() !== '')
  return (
    <>
      <PageHead title={t('new.title')} crumb={t('new.title')} about={t('new.about')} />
      <div className="stack">
        <Card title={t('new.source')}>
          <Source
            listId={list}
            onList={(list) => {
              forget()
              void navigate({ search: { list }, replace: true })
            }}
            file={file}
            onFile={afresh(setFile)}
            options={options}
            onOptions={afresh(setOptions)}
          >
            <Button
              loading={run.isPending && run.variables.isDry}
              variant={tried === null ? 'filled' : 'default'}
              disabled={!isReady || run.isPending}
              onClick={() => start(true, null)}
            >
              {t('new.try')}
            </Button>
          </Source>
        </Card>
        {run.error && <Failed error={run.error} />}
        {tried !== null && list !== undefined && (
          <Tried
            key={tried}
            listId={list}
            importId={tried}
            changed={changed}
            onChange={setChanged}
            isPending={run.isPending}
            onRun={start}
          />
        )}
      </div>
    </>
  )
}

type TriedProps = {
  listId: number
  importId: number
  /** The mapping as it was changed since. */
  changed: Mapping | null
  onChange: (mapping: Mapping) => void
  isPending: boolean
  onRun: (isDry: boolean, mapping: Mapping) => void
}

/** What an import would do, and which column goes where. */
function Tried({ listId, importId, changed, onChange, isPending, onRun }: TriedProps) {
  const { t } = useTranslation('imports')
  const { data, error } = useImport(listId, importId)
  if (error && !data) return <Failed error={error} />
  if (!data || isBusy(data)) return <Loading />
  if (data.state === 'failed') return <Failed error={new Error(data.reason ?? data.state)} />
  const stored = data.mapping as Mapping
  const mapping = changed ?? stored
  return (
    <>
      <Card title={t('mapping.heading')} aside={t('mapping.about')}>
        <MappingTable columns={data.columns} mapping={mapping} rows={data.first_rows ?? []} onChange={onChange} />
      </Card>
      <Card title={t('new.would')}>
        <div className="pad stack">
          <Counts of={data} />
          {data.failed > 0 && <Refused listId={listId} importId={importId} />}
          <div className="acts">
            {changed ? (
              <Button loading={isPending} onClick={() => onRun(true, mapping)}>
                {t('new.again')}
              </Button>
            ) : (
              <Button loading={isPending} disabled={data.rows === data.failed} onClick={() => onRun(false, mapping)}>
                {t('new.import', { count: data.rows - data.failed })}
              </Button>
            )}
            {!changed && data.failed > 0 && <span className="quiet sm">{t('new.left', { count: data.failed })}</span>}
          </div>
        </div>
      </Card>
    </>
  )
}
