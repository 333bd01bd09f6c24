import type { components } from '@carillon/sdk'
import { Autocomplete } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Where each column goes; null: it is skipped. */
export type Mapping = Record<string, string | null>
type Row = NonNullable<components['schemas']['ListImportReply']['first_rows']>[number]

const TARGETS = ['external_id', 'anonymous_id', 'email', 'phone', 'timezone', 'locale']

/** The value that a row would store for a column. */
function valueIn(row: Row, target: string | null): string {
  if (target === null) return ''
  const [path = ''] = target.split(':')
  const value = path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], row)
  return value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}

type Props = { columns: string[]; mapping: Mapping; rows: Row[]; onChange: (mapping: Mapping) => void }

/** The columns of the file, where each goes, and what the first row would store. */
export function MappingTable({ columns, mapping, rows, onChange }: Props) {
  const { t } = useTranslation('imports')
  return (
    <table className="rows" aria-label={t('mapping.heading')}>
      <thead>
        <tr>
          <th scope="col">{t('mapping.column')}</th>
          <th scope="col">{t('mapping.target')}</th>
          <th scope="col" className="hide-s">
            {t('mapping.stored')}
          </th>
        </tr>
      </thead>
      <tbody>
        {columns.map((column) => (
          <tr key={column}>
            <th scope="row">{column}</th>
            <td>
              <Autocomplete
                size="xs"
                aria-label={t('mapping.targetOf', { column })}
                placeholder={t('mapping.skipped')}
                data={TARGETS}
                value={mapping[column] ?? ''}
                onChange={(target) => onChange({ ...mapping, [column]: target === '' ? null : target })}
              />
            </td>
            <td className="hide-s">{rows.slice(0, 1).map((row) => valueIn(row, mapping[column] ?? null))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
