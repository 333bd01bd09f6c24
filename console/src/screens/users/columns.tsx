import type { components } from '@carillon/sdk'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { keepInBrowser } from '../../session/keep.ts'
import { useProject } from '../../session/project.tsx'
import { columnsOf, type FIELDS, shortened, textOf, valueAt } from './chosen-columns.ts'
import { nameOf } from './name.ts'

export type User = components['schemas']['User']

/** The columns that the reader has chosen for a project, which stay in this browser. */
export function useChosenColumns() {
  const key = `carillon.users-columns.${useProject().id}`
  const [chosen, setChosen] = useState(() => columnsOf(localStorage.getItem(key)))
  const choose = (next: readonly string[]) => {
    keepInBrowser(key, JSON.stringify(next))
    setChosen(next)
  }
  return [chosen, choose] as const
}

/** The columns of the list: the user, then those that were chosen, in the order of the choice. */
export function useColumns(chosen: readonly string[]): SavedColumn<User>[] {
  const fields = useFields()
  const user = useUserColumn()
  return [user, ...chosen.map((id) => (id in fields ? fields[id as keyof typeof fields] : attributeColumn(id)))]
}

function useUserColumn(): SavedColumn<User> {
  const { t } = useTranslation('users')
  const project = String(useProject().id)
  return {
    id: 'user',
    label: t('column.user'),
    text: nameOf,
    also: [{ label: t('column.external_id'), text: ({ external_id }) => external_id }],
    cell: (user) => (
      <>
        <Link className="plain" to="/p/$project/users/$userId" params={{ project, userId: user.external_id }}>
          {nameOf(user)}
        </Link>
        <code className="r">{user.external_id}</code>
      </>
    ),
  }
}

function useFields(): Record<(typeof FIELDS)[number], SavedColumn<User>> {
  const { t } = useTranslation('users')
  return {
    email: { id: 'email', label: t('column.email'), text: ({ email }) => email, isWide: true },
    phone: { id: 'phone', label: t('column.phone'), text: ({ phone }) => phone, isExtra: true },
    locale: { id: 'locale', label: t('column.locale'), text: ({ locale }) => locale, isExtra: true },
    timezone: { id: 'timezone', label: t('column.timezone'), text: ({ timezone }) => timezone, isExtra: true },
    anonymous_id: { id: 'anonymous_id', label: t('column.anonymous_id'), text: ({ anonymous_id }) => anonymous_id, isExtra: true },
    has_push_device: {
      id: 'has_push_device',
      label: t('column.has_push_device'),
      text: ({ has_push_device }) => t(has_push_device ? 'rule.yes' : 'rule.no'),
      isExtra: true,
    },
    created_at: {
      id: 'created_at',
      label: t('column.created_at'),
      text: ({ created_at }) => created_at,
      cell: ({ created_at }) => <Time at={created_at} />,
      isNumber: true,
      isExtra: true,
    },
    updated_at: {
      id: 'updated_at',
      label: t('column.updated_at'),
      text: ({ updated_at }) => updated_at,
      cell: ({ updated_at }) => <Time at={updated_at} />,
      isNumber: true,
      isExtra: true,
    },
  }
}

/** An attribute is named in its cell as well, because narrow screens have no head of the table. */
const attributeColumn = (path: string): SavedColumn<User> => ({
  id: path,
  label: nameOfPath(path),
  text: ({ data }) => textOf(valueAt(data, path)),
  cell: ({ data }) => {
    const text = textOf(valueAt(data, path))
    return text === '' ? (
      <span className="quiet hide-s">–</span>
    ) : (
      <span className="attribute" title={text}>
        <span className="show-s quiet">{nameOfPath(path)}: </span>
        {shortened(text)}
      </span>
    )
  },
  isWide: true,
})

/** An attribute as its column is called. */
export const nameOfPath = (path: string): string => path.slice('data.'.length)
