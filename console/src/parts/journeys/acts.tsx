import { Button, Select } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useMay } from '../../session/project.tsx'
import { Confirm } from '../confirm.tsx'
import { useWrite } from '../data.ts'
import { Failed } from '../failed.tsx'
import { said } from '../toast.ts'

const USER = '/api/client/journeys/{journeyId}/users/{userId}'
/** What was read again: the journey with its users, and the journeys of the user. */
const CHANGES = ['/api/client/journeys/{journeyId}', '/api/client/users/{userId}/journeys']

type Props = {
  journeyId: number
  userId: string
  entrance: { entrance_id: number; parked?: string | undefined }
  /** The steps to which the user can be moved. */
  steps: { value: string; label: string }[]
}

/** What may be done with a user who is inside a journey. The texts are those of journeys. */
export function Acts({ journeyId, userId, entrance: { entrance_id, parked }, steps }: Props) {
  const { t } = useTranslation('journeys')
  const mayPublish = useMay('publisher')
  const path = { journeyId, userId }
  const act = useWrite(
    (api, verb: 'skip' | 'retry') => api.post(`/api/client/journeys/{journeyId}/users/{userId}/${verb}`, { path, body: { entrance_id } }),
    CHANGES,
    (_, verb) => said(t(`acts.${verb}Done`)),
  )
  const move = useWrite(
    (api, to: string) => api.post('/api/client/journeys/{journeyId}/users/{userId}/move', { path, body: { to, entrance_id } }),
    CHANGES,
    () => said(t('acts.moveDone')),
  )
  if (!mayPublish) return null
  const error = act.error ?? move.error
  return (
    <div className="pad form">
      {error && <Failed error={error} />}
      <div className="acts">
        {parked !== undefined && (
          <Button size="xs" variant="default" loading={act.isPending} onClick={() => act.mutate('retry')}>
            {t('acts.retry')}
          </Button>
        )}
        <Button size="xs" variant="default" loading={act.isPending} onClick={() => act.mutate('skip')}>
          {t('acts.skip')}
        </Button>
        <Remove journeyId={journeyId} userId={userId} entranceId={entrance_id} />
      </div>
      <Select
        size="xs"
        label={t('acts.move')}
        description={t('acts.moveAbout')}
        data={steps}
        value={null}
        onChange={(to) => to !== null && move.mutate(to)}
      />
    </div>
  )
}

function Remove({ journeyId, userId, entranceId }: { journeyId: number; userId: string; entranceId: number }) {
  const { t } = useTranslation('journeys')
  const [isOpen, setOpen] = useState(false)
  const remove = useWrite(
    (api) => api.delete(USER, { path: { journeyId, userId }, query: { entrance_id: String(entranceId) } }),
    CHANGES,
    () => {
      setOpen(false)
      said(t('acts.removeDone'))
    },
  )
  return (
    <>
      <Button size="xs" variant="outline" color="ember" onClick={() => setOpen(true)}>
        {t('acts.remove')}
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('acts.removeTitle', { user: userId })}
        action={t('acts.remove')}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined)}
      >
        <p>{t('acts.removeAbout')}</p>
      </Confirm>
    </>
  )
}
