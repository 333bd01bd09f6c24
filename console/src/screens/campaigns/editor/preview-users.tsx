import type { components } from '@carillon/sdk'
import { Select } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../../parts/data.ts'
import { useProject } from '../../../session/project.tsx'

type User = components['schemas']['User']
type Props = { user: string | null; onChange: (user: string | null) => void }

const SHOWN_MAX = 20
const TRIED = { query: { limit: 100, sort: 'updated_at', direction: 'desc' } } as const

const nameOf = ({ data }: User) => [data.first_name, data.last_name].filter((name) => typeof name === 'string').join(' ')

/** Whose values the preview has. Without a user they are made up. */
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

const RIGHT_TO_LEFT = new Set(['ar', 'fa', 'he', 'ur'])
const languageOf = ({ locale }: User) => locale?.split('-')[0]

/** The five users whose messages most often go wrong, out of the latest hundred. */
function hardUsersOf(users: User[], language: string | undefined): [string, User][] {
  const byName = users.toSorted((a, b) => nameOf(b).length - nameOf(a).length)
  const byData = users.toSorted((a, b) => Object.keys(a.data).length - Object.keys(b.data).length)
  const wanted: [string, User | undefined][] = [
    ['noName', users.find((user) => nameOf(user) === '' && Object.keys(user.data).length > 0)],
    ['longestName', byName[0]],
    [
      'otherLanguage',
      users.find((user) => languageOf(user) !== undefined && languageOf(user) !== language && !RIGHT_TO_LEFT.has(languageOf(user) ?? '')),
    ],
    ['rightToLeft', users.find((user) => RIGHT_TO_LEFT.has(languageOf(user) ?? ''))],
    ['missingData', byData[0]],
  ]
  return wanted.filter((pair): pair is [string, User] => pair[1] !== undefined)
}

/** Buttons for the users who are hard to write to. */
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
