import { Select } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useReadAll } from '../../parts/data.ts'
import { OPTIONS_MAX } from '../../parts/paging.ts'

/** The static lists, into which files are imported. */
export function useStaticLists() {
  const { data, error, refetch } = useReadAll('/api/client/lists')
  return { lists: data?.filter(({ type }) => type === 'static'), error, refetch }
}

type Props = { value: number | undefined; onChange: (id: number) => void; isLabelled?: boolean }

/** Chooses a static list. */
export function ListSelect({ value, onChange, isLabelled }: Props) {
  const { t } = useTranslation('imports')
  const { lists = [] } = useStaticLists()
  return (
    <Select
      {...(isLabelled ? { label: t('list') } : { 'aria-label': t('list') })}
      placeholder={t('list')}
      searchable
      limit={OPTIONS_MAX}
      allowDeselect={false}
      data={lists.map(({ id, name }) => ({ value: String(id), label: name }))}
      value={value === undefined ? null : String(value)}
      onChange={(next) => next !== null && onChange(Number(next))}
    />
  )
}
