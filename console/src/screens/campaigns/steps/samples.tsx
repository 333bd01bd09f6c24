import type { components } from '@carillon/sdk'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../../parts/data.ts'
import { Failed } from '../../../parts/failed.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { Card } from '../../../parts/page.tsx'
import { TabBar } from '../../../parts/tabs.tsx'
import { useProject } from '../../../session/project.tsx'
import { Drawn } from '../editor/drawn.tsx'
import { nameOf, sampleUsersOf } from '../editor/hard-users.ts'
import { usePreview } from '../editor/use-preview.ts'
import type { Campaign } from '../search.ts'
import { type Letter, letterOf } from '../variants.ts'

type User = components['schemas']['User']

const SAMPLES = 5
const WIDTH = 320

/** The message as five users of a list get it, in each variant: first those whose messages most often go wrong. */
export function Samples({ campaign, listId }: { campaign: Campaign; listId: number }) {
  const { t } = useTranslation('campaigns')
  const { locale } = useProject()
  const { variants } = campaign
  const [variant, setVariant] = useState<Letter>('A')
  const { data, error } = useRead('/api/client/lists/{listId}/users', { path: { listId }, query: { limit: 100 } })
  if (error) return <Failed error={error} />
  const users = sampleUsersOf(data?.results ?? [], locale.split('-')[0], SAMPLES)
  if (data && users.length === 0) return null
  return (
    <Card
      title={t('samples.heading')}
      actions={
        variants.length > 0 && (
          <TabBar
            isSmall
            label={t('variants.heading')}
            tabs={variants.map(({ name }, index) => {
              const id = letterOf(index)
              return { id, label: t('editor.variant', { variant: id, name }) }
            })}
            current={variant}
            onChange={(id) => setVariant(id as Letter)}
          />
        )
      }
    >
      <p className="pad sm quiet">{t('samples.about')}</p>
      {!data && <Loading />}
      <ul className="samples" aria-label={t('samples.heading')}>
        {users.map((user) => (
          <Sample key={`${variant} ${user.id}`} campaign={campaign} user={user} variant={variant} />
        ))}
      </ul>
    </Card>
  )
}

function Sample({ campaign: { id, channel }, user, variant }: { campaign: Campaign; user: User; variant: Letter }) {
  const { t } = useTranslation('campaigns')
  const { data, error } = usePreview(id, { user: user.external_id, variant })
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
