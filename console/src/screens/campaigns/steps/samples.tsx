import type { components } from '@carillon/sdk'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../../parts/data.ts'
import { Failed } from '../../../parts/failed.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { Card } from '../../../parts/page.tsx'
import { useProject } from '../../../session/project.tsx'
import { Drawn } from '../editor/drawn.tsx'
import { nameOf, sampleUsersOf } from '../editor/hard-users.ts'
import { usePreview } from '../editor/use-preview.ts'
import type { Campaign } from '../search.ts'

type User = components['schemas']['User']

const SAMPLES = 5
const WIDTH = 320

/** The message as five users of a list will get it: first those whose messages most often go wrong. */
export function Samples({ campaign, listId }: { campaign: Campaign; listId: number }) {
  const { t } = useTranslation('campaigns')
  const { locale } = useProject()
  const { data, error } = useRead('/api/client/lists/{listId}/users', { path: { listId }, query: { limit: 100 } })
  if (error) return <Failed error={error} />
  const users = sampleUsersOf(data?.results ?? [], locale.split('-')[0], SAMPLES)
  if (data && users.length === 0) return null
  return (
    <Card title={t('samples.heading')}>
      <p className="pad sm quiet">{t('samples.about')}</p>
      {!data && <Loading />}
      <ul className="samples" aria-label={t('samples.heading')}>
        {users.map((user) => (
          <Sample key={user.id} campaign={campaign} user={user} />
        ))}
      </ul>
    </Card>
  )
}

function Sample({ campaign: { id, channel }, user }: { campaign: Campaign; user: User }) {
  const { t } = useTranslation('campaigns')
  const { data, error } = usePreview(id, { user: user.external_id })
  return (
    <li>
      <h3 dir="auto">
        {nameOf(user) || user.external_id}
        <span className="r">{[user.external_id, user.locale].filter(Boolean).join(' · ')}</span>
      </h3>
      {error && <Failed error={error} />}
      {data && (
        <>
          <Drawn channel={channel} preview={data} width={WIDTH} title={t('samples.title', { user: user.external_id })} />
          {data.findings.length > 0 && <p className="pad sm tb">{data.findings.map(({ message }) => message).join(' ')}</p>}
        </>
      )}
    </li>
  )
}
