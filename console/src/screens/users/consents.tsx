import type { components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Time } from '../../parts/time.tsx'
import { STATES, type Subscription } from './subscription.ts'

const PATH = '/api/client/users/{userId}/consents'

type Entry = components['schemas']['UserConsent']

/** The history of subscription states: each change with its source and its evidence, latest first. */
export function Consents({ userId, types }: { userId: string; types: Subscription[] }) {
  const { t } = useTranslation('users')
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="pad consents" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('consents.heading')}</summary>
      {isOpen && <Entries userId={userId} types={types} />}
    </details>
  )
}

function Entries({ userId, types }: { userId: string; types: Subscription[] }) {
  const { t } = useTranslation('users')
  const [cursor, setCursor] = useState<string>()
  const { data, error } = useRead(PATH, { path: { userId }, query: { limit: 20, ...(cursor && { cursor }) } })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  if (data.results.length === 0) return <p className="quiet sm">{t('consents.none')}</p>
  return (
    <>
      <ol className="lines">
        {data.results.map((entry) => (
          <Line key={entry.id} entry={entry} name={types.find((type) => type.subscription_id === entry.subscription_id)?.name} />
        ))}
      </ol>
      {data.nextCursor !== null && (
        <Button variant="default" size="xs" onClick={() => setCursor(data.nextCursor ?? undefined)}>
          {t('consents.earlier')}
        </Button>
      )}
    </>
  )
}

function Line({ entry: { subscription_id, state, previous_state, source, wording, proof, at }, name }: { entry: Entry; name?: string }) {
  const { t } = useTranslation('users')
  const stateName = (state: Entry['state']) => t(`consents.state.${STATES[state]}`)
  const evidence = Object.entries({ ...(wording !== null && { wording }), ...proof })
  return (
    <li>
      <span>
        <b>{name ?? t('consents.type', { id: subscription_id })}</b>{' '}
        {previous_state === null
          ? stateName(state)
          : t('consents.change', { from: stateName(previous_state as Entry['state']), to: stateName(state) })}
        <span className="r">
          <Time at={at} /> · {t(`consents.source.${source}`)}
        </span>
        {evidence.map(([member, value]) => (
          <span key={member} className="r">
            <code>{member}</code> {String(value)}
          </span>
        ))}
      </span>
    </li>
  )
}
