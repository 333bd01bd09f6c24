import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { undoable } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { Consents } from './consents.tsx'
import { REACHABILITY, STATES, SUBSCRIPTIONS, useSubscriptions } from './subscription.ts'

type Change = { subscription_id: number; state: 0 | 1 | 2; name: string; previous?: 0 | 1 | 2 }

/** What the user agreed to, and what stops it anyway. */
export function Subscriptions({ userId }: { userId: string }) {
  const { t } = useTranslation('users')
  const { data, error } = useSubscriptions(userId)
  const mayChange = useMay('editor')
  const change = useWrite(
    (api, { subscription_id, state }: Change) => api.patch(SUBSCRIPTIONS, { path: { userId }, body: [{ subscription_id, state }] }),
    [SUBSCRIPTIONS, REACHABILITY, '/api/client/users/{userId}/consents'],
    (_, { subscription_id, name, state, previous }) => {
      if (previous === undefined) return
      undoable(t(state > 0 ? 'subscriptions.subscribed' : 'subscriptions.unsubscribed', { name }), () =>
        change.mutateAsync({ subscription_id, name, state: previous }),
      )
    },
  )
  return (
    <Card title={t('subscriptions.heading')}>
      {error && <Failed error={error} />}
      {change.error && <Failed error={change.error} />}
      <ul className="lines">
        {data?.map(({ subscription_id, name, channel, state, suppression }) => (
          <li key={subscription_id}>
            <span>
              {name}
              <span className="r">
                {t(`channel.${channel}.name`)}
                {suppression && ` · ${t('subscriptions.stopped', { reason: suppression })}`}
              </span>
            </span>
            <span className="acts">
              <Chip state={STATES[state] ?? 'unknown'} />
              {mayChange && (
                <Button
                  size="xs"
                  variant="default"
                  aria-label={t(state > 0 ? 'subscriptions.endOf' : 'subscriptions.beginOf', { name })}
                  onClick={() => change.mutate({ subscription_id, name, state: state > 0 ? 0 : 1, previous: state })}
                >
                  {t(state > 0 ? 'subscriptions.end' : 'subscriptions.begin')}
                </Button>
              )}
            </span>
          </li>
        ))}
      </ul>
      {data && <Consents userId={userId} types={data} />}
    </Card>
  )
}
