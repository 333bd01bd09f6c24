import type { components } from '@carillon/sdk'
import { Select } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { type Gate, Gates } from '../../parts/gates.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { day } from '../../parts/time.tsx'

type Explanation = NonNullable<components['schemas']['ListUserExplainReply']['explanation']>

/** Whether the user is in a list, and which part of its rule says so. */
export function Lists({ userId }: { userId: string }) {
  const { t } = useTranslation('users')
  const [chosen, setChosen] = useState<string | null>(null)
  const { data, error } = useRead('/api/client/lists', { query: { limit: 100 } })
  if (data?.results.length === 0) return null
  return (
    <Card title={t('lists.heading')}>
      <div className="pad form">
        {error && <Failed error={error} />}
        <Select
          label={t('lists.choose')}
          searchable
          data={(data?.results ?? []).map(({ id, name }) => ({ value: String(id), label: name }))}
          value={chosen}
          onChange={setChosen}
        />
      </div>
      {chosen !== null && <Why userId={userId} listId={Number(chosen)} />}
    </Card>
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
