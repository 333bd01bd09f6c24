import { Button } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
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
    ({ id }, { listId, isDry }) => {
      if (!isDry) void navigate({ to: '/p/$project/imports', params: { project }, search: { list: listId, import: id } })
    },
  )
  const start = (isDry: boolean, mapping: Mapping | null) => {
    if (file && list !== undefined) run.mutate({ file, listId: list, options, mapping, isDry })
  }
  const tried = run.variables?.isDry && run.data ? run.data : null
  const reset =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value)
      run.reset()
    }
  return (
    <>
      <PageHead title={t('new.title')} crumb={t('new.title')} about={t('new.about')} />
      <div className="stack">
        <Card title={t('new.source')}>
          <Source
            listId={list}
            onList={(list) => {
              run.reset()
              void navigate({ search: { list }, replace: true })
            }}
            file={file}
            onFile={reset(setFile)}
            options={options}
            onOptions={reset(setOptions)}
          >
            <Button
              loading={run.isPending && run.variables.isDry}
              variant={tried ? 'default' : 'filled'}
              disabled={!file || list === undefined || (options.subscriptionIds.length > 0 && options.consentSource.trim() === '')}
              onClick={() => start(true, null)}
            >
              {t('new.try')}
            </Button>
          </Source>
        </Card>
        {run.error && <Failed error={run.error} />}
        {tried && list !== undefined && <Tried key={tried.id} listId={list} importId={tried.id} isPending={run.isPending} onRun={start} />}
      </div>
    </>
  )
}

type TriedProps = { listId: number; importId: number; isPending: boolean; onRun: (isDry: boolean, mapping: Mapping) => void }

/** What an import would do, and which column goes where. */
function Tried({ listId, importId, isPending, onRun }: TriedProps) {
  const { t } = useTranslation('imports')
  const { data, error } = useImport(listId, importId)
  const [changed, setChanged] = useState<Mapping | null>(null)
  if (error && !data) return <Failed error={error} />
  if (!data || isBusy(data)) return <Loading />
  if (data.state === 'failed') return <Failed error={new Error(data.reason ?? data.state)} />
  const stored = data.mapping as Mapping
  const mapping = changed ?? stored
  return (
    <>
      <Card title={t('mapping.heading')} aside={t('mapping.about')}>
        <MappingTable columns={data.columns} mapping={mapping} rows={data.first_rows ?? []} onChange={setChanged} />
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
