import type { components } from '@carillon/sdk'
import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { pathOf } from '../../parts/attribute-paths.ts'
import { useRead, useWrite } from '../../parts/data.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import './schema.css'
import { EditAttribute } from './edit-attribute.tsx'
import { register } from './register.ts'
import { dataKeyOf, type Entry, REGISTER, readersOf, SCHEMA, withReaders } from './view.ts'

type Attribute = components['schemas']['SchemaAttribute']
const READERS = ['everyone', 'notUsers', 'editor', 'publisher', 'admin', 'hidden'] as const

/** The attributes of users, with who can read each. */
export function Attributes() {
  const { t } = useTranslation('schema')
  const mayRegister = useMay('admin')
  const attributes = useRead(SCHEMA, {})
  const { data } = attributes
  if (attributes.isPending) return <Loading />
  if (!data) return <Failed error={attributes.error} onRetry={() => void attributes.refetch()} />
  if (data.results.length === 0) {
    return (
      <Card>
        <Empty>{t('attributes.empty')}</Empty>
      </Card>
    )
  }
  return (
    <Card title={t('view.attributes')} aside={t('attributes.of', { count: data.people })}>
      <table className="rows" aria-label={t('view.attributes')}>
        <thead>
          <tr>
            <th scope="col">{t('column.name')}</th>
            <th scope="col" className="num">
              {t('column.users')}
            </th>
            <th scope="col" className="hide-s">
              {t('column.samples')}
            </th>
            <th scope="col" className="num hide-s">
              {t('column.seen')}
            </th>
            {mayRegister && <th scope="col">{t('column.readers')}</th>}
          </tr>
        </thead>
        {mayRegister ? <Registered rows={data.results} all={data.people} /> : <Rows rows={data.results} all={data.people} />}
      </table>
    </Card>
  )
}

/** An attribute; of one that is only registered, nothing but its name is known. */
type Row = Attribute | { key: string }
type RowsProps = { rows: Row[]; all: number; readersOfRow?: (row: Row) => React.ReactNode }

function Rows({ rows, all, readersOfRow }: RowsProps) {
  const { t } = useTranslation('schema')
  return (
    <tbody>
      {rows.map((row) => (
        <tr key={row.key}>
          <th scope="row" className="schema-name">
            <code>{row.key}</code>
            {'label' in row && <span className="label">{row.label}</span>}
            {'types' in row && (
              <span className="r">{[row.types.join(', '), ...(row.personal_data ? [t('personal')] : [])].join(' · ')}</span>
            )}
          </th>
          <td className="num">
            {'people' in row && (
              <>
                <Num value={row.people} />
                <span className="r">
                  <Rate part={row.people} whole={all} />
                </span>
              </>
            )}
          </td>
          <td className="hide-s">{'samples' in row && row.samples.map(String).join(', ')}</td>
          <td className="num hide-s">{'last_seen' in row && <Time at={row.last_seen} />}</td>
          {readersOfRow && <td>{readersOfRow(row)}</td>}
        </tr>
      ))}
    </tbody>
  )
}

/** The rows with who can read each, which admins choose. */
function Registered({ rows, all }: { rows: Attribute[]; all: number }) {
  const { t } = useTranslation('schema')
  const registered = useRead(REGISTER, {})
  const entries = new Map(registered.data?.results.map((entry) => [entry.key, entry]))
  // An attribute that no one can read is not listed, but can still be shown again.
  const listed = new Set(rows.map(({ key }) => dataKeyOf(key)))
  const unlisted = [...entries.keys()].filter((key) => !listed.has(key)).map((key) => ({ key: pathOf([key]) }))
  return (
    <Rows
      rows={[...rows, ...unlisted]}
      all={all}
      readersOfRow={({ key }) => {
        const dataKey = dataKeyOf(key)
        if (dataKey === null) return <span className="quiet">{t('readers.everyone')}</span>
        return registered.data ? <Registration dataKey={dataKey} entry={entries.get(dataKey)} /> : null
      }}
    />
  )
}

/** What admins set of an attribute. */
function Registration({ dataKey, entry }: { dataKey: string; entry: Entry | undefined }) {
  const { t } = useTranslation('schema')
  const [isEditing, setEditing] = useState(false)
  return (
    <div className="registration">
      <Readers dataKey={dataKey} entry={entry} />
      <Button size="xs" variant="default" aria-label={t('edit.of', { name: dataKey })} onClick={() => setEditing(true)}>
        {t('edit.open')}
      </Button>
      {isEditing && <EditAttribute dataKey={dataKey} entry={entry} onClose={() => setEditing(false)} />}
    </div>
  )
}

function Readers({ dataKey, entry }: { dataKey: string; entry: Entry | undefined }) {
  const { t } = useTranslation('schema')
  const current = readersOf(entry)
  const change = useWrite(
    (api, readers: string) => register(api, dataKey, { begun: entry, input: withReaders(entry, readers) }),
    [REGISTER, SCHEMA],
    () => said(t('readers.done', { name: dataKey })),
  )
  const choices = READERS.includes(current as 'everyone') ? READERS : [...READERS, current]
  return (
    <NativeSelect
      size="xs"
      aria-label={t('readers.of', { name: dataKey })}
      value={change.isPending ? change.variables : current}
      disabled={change.isPending}
      error={change.error?.message}
      onChange={(event) => change.mutate(event.currentTarget.value)}
      data={choices.map((value) => ({ value, label: t(`readers.${value}`, { defaultValue: value }) }))}
    />
  )
}
