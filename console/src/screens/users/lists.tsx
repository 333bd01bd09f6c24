import type { components } from '@carillon/sdk'
import { Button, Select } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useReadAll } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { type Gate, Gates } from '../../parts/gates.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { OPTIONS_MAX } from '../../parts/paging.ts'
import { day } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'

type Explanation = NonNullable<components['schemas']['ListUserExplainReply']['explanation']>

/** The lists that the user is in. Explains for these and any other list which part of its rule decides it. */
export function Lists({ userId }: { userId: string }) {
  const { t } = useTranslation('users')
  const [chosen, setChosen] = useState<string | null>(null)
  const all = useReadAll('/api/client/lists')
  if (all.data?.length === 0) return null
  return (
    <Card title={t('lists.heading')}>
      <Memberships userId={userId} />
      <div className="pad form">
        {all.error && <Failed error={all.error} />}
        <Select
          label={t('lists.choose')}
          searchable
          limit={OPTIONS_MAX}
          data={(all.data ?? []).map(({ id, name }) => ({ value: String(id), label: name }))}
          value={chosen}
          onChange={setChosen}
        />
      </div>
      {chosen !== null && <Why userId={userId} listId={Number(chosen)} />}
    </Card>
  )
}

const SHOWN_MAX = 100

function Memberships({ userId }: { userId: string }) {
  const { t, i18n } = useTranslation('users')
  const project = String(useProject().id)
  const [shown, setShown] = useState<number | null>(null)
  const { data, error } = useRead('/api/client/users/{userId}/lists', { path: { userId }, query: { limit: SHOWN_MAX } })
  if (error) return <Failed error={error} />
  if (data?.results.length === 0) return <p className="pad quiet sm">{t('lists.none')}</p>
  return (
    <ul className="lines">
      {data?.results.map(({ id, name, since }) => (
        <li key={id}>
          <span>
            <Link className="plain" to="/p/$project/lists/$listId" params={{ project, listId: String(id) }}>
              {name}
            </Link>
            <span className="r">{t('lists.since', { since: day(i18n.language, { at: since }) })}</span>
          </span>
          <Button
            size="xs"
            variant="default"
            aria-expanded={shown === id}
            aria-label={t('lists.whyOf', { name })}
            onClick={() => setShown(shown === id ? null : id)}
          >
            {t('lists.why')}
          </Button>
          {shown === id && <Why userId={userId} listId={id} />}
        </li>
      ))}
    </ul>
  )
}

function Why({ userId, listId }: { userId: string; listId: number }) {
  const { t, i18n } = useTranslation('users')
  const { data, error } = useRead('/api/client/lists/{listId}/users/{userId}/explain', { path: { listId, userId } })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  const since = data.since === null ? '' : day(i18n.language, { at: data.since })
  return (
    <div className="pad">
      <p className="explained">
        <b>{t(data.member ? 'lists.member' : 'lists.noMember')}</b> {since && t(data.member ? 'lists.since' : 'lists.until', { since })}
      </p>
      {data.explanation ? <Gates gates={gatesOf(data.explanation)} /> : <p className="quiet sm">{t('lists.static')}</p>}
    </div>
  )
}

/** The conditions of a rule in order, each with the value that was found. */
function gatesOf(explanation: Explanation): Gate[] {
  const { path, is, passes, condition, seen, of } = explanation
  if (is === 'condition')
    return [
      { id: path, passes, label: <code>{JSON.stringify(condition)}</code>, found: seen === undefined ? undefined : JSON.stringify(seen) },
    ]
  return (of ?? []).flatMap((part) => gatesOf(part as Explanation))
}
