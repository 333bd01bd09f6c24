import { Select } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../../parts/data.ts'
import { useProject } from '../../../session/project.tsx'
import { hardUsersOf, nameOf } from './hard-users.ts'

type Props = { user: string | null; onChange: (user: string | null) => void }

const SHOWN_MAX = 20
const TRIED = { query: { limit: 100, sort: 'updated_at', direction: 'desc' } } as const

/** Chooses the user whose values the preview shows. Without a user, the values are made up. */
export function UserPicker({ user, onChange }: Props) {
  const { t } = useTranslation('campaigns')
  const [typed, setTyped] = useState('')
  const q = typed === (user ?? '') ? '' : typed.trim()
  const { data } = useRead('/api/client/users', { query: { limit: SHOWN_MAX, ...(q !== '' && { q }) } }, { keepsPrevious: true })
  const found = (data?.results ?? []).map((found) => ({
    value: found.external_id,
    label: [nameOf(found), found.email ?? found.phone ?? found.external_id].filter(Boolean).join(' · '),
  }))
  const options = user === null || found.some(({ value }) => value === user) ? found : [{ value: user, label: user }, ...found]
  return (
    <Select
      label={t('preview.as')}
      placeholder={t('preview.madeUp')}
      data={options}
      value={user}
      onChange={onChange}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('preview.clear') }}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      nothingFoundMessage={t('preview.noUser')}
    />
  )
}

/** Buttons for the users whose messages most often go wrong. */
export function HardUsers({ user, onChange }: Props) {
  const { t } = useTranslation('campaigns')
  const { locale } = useProject()
  const { data } = useRead('/api/client/users', TRIED)
  const hard = hardUsersOf(data?.results ?? [], locale.split('-')[0])
  if (hard.length === 0) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw and announce a form.
    <div className="filters" role="group" aria-label={t('preview.hard')}>
      {hard.map(([id, { external_id: userId }]) => (
        <button
          key={id}
          type="button"
          className="filter"
          aria-pressed={userId === user}
          onClick={() => onChange(userId === user ? null : userId)}
        >
          {t(`preview.${id}`)}
        </button>
      ))}
    </div>
  )
}
