import type { components } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import type { Paging } from '../../parts/paging.ts'
import { Time } from '../../parts/time.tsx'

type InboxMessage = components['schemas']['OwnUserMessage']

const PATH = '/api/client/users/{userId}/messages'
const PAGE = 10

/** The in-app messages as the user sees them, with their states. */
export function Inbox({ userId }: { userId: string }) {
  const { t } = useTranslation('users')
  const [paging, setPaging] = useState<Paging>({})
  const { data, error } = useRead(PATH, { path: { userId }, query: { limit: PAGE, ...paging } }, { keepsPrevious: true })
  if (error) return <Failed error={error} />
  if (!data || (data.results.length === 0 && paging.cursor === undefined)) return null
  const { prevCursor, nextCursor } = data
  return (
    <Card title={t('inbox.heading')}>
      <ul className="lines">
        {data.results.map(({ id, title, body, created_at, expires_at, ...state }) => (
          <li key={id}>
            <span dir="auto">
              <b>{title}</b>
              <span className="r">{body}</span>
              <span className="r">
                <Time at={created_at} />
                {expires_at && (
                  <>
                    {` · ${t('inbox.until')} `}
                    <Time at={expires_at} />
                  </>
                )}
              </span>
            </span>
            <Chip {...stateOf(state)} state={t(`inbox.${stateOf(state).state}`)} />
          </li>
        ))}
      </ul>
      {(prevCursor ?? nextCursor) !== null && (
        <div className="pad acts">
          {prevCursor !== null && (
            <Button variant="default" size="xs" onClick={() => setPaging({ cursor: prevCursor, page: 'prev' })}>
              {t('inbox.newer')}
            </Button>
          )}
          {nextCursor !== null && (
            <Button variant="default" size="xs" onClick={() => setPaging({ cursor: nextCursor })}>
              {t('inbox.older')}
            </Button>
          )}
        </div>
      )}
    </Card>
  )
}

/** The latest that the user did with a message. */
function stateOf({ archived_at, clicked_at, read_at, seen_at }: Pick<InboxMessage, 'archived_at' | 'clicked_at' | 'read_at' | 'seen_at'>) {
  if (archived_at !== null) return { state: 'archived', tone: 'still' } as const
  if (clicked_at !== null) return { state: 'clicked', tone: 'good' } as const
  if (read_at !== null) return { state: 'read', tone: 'good' } as const
  return { state: seen_at === null ? 'unseen' : 'seen', tone: 'wait' } as const
}
