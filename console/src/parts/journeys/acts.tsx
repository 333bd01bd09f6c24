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

type Act = { verb: 'skip' | 'retry' } | { verb: 'move'; to: string }

/** What may be done with a user who is inside a journey. The texts are those of journeys. */
export function Acts({ journeyId, userId, entrance: { entrance_id, parked }, steps }: Props) {
  const { t } = useTranslation('journeys')
  const mayPublish = useMay('publisher')
  const path = { journeyId, userId }
  // One write for all, so that what is said is about the latest.
  const write = useWrite(
    (api, act: Act) =>
      act.verb === 'move'
        ? api.post('/api/client/journeys/{journeyId}/users/{userId}/move', { path, body: { to: act.to, entrance_id } })
        : api.post(`/api/client/journeys/{journeyId}/users/{userId}/${act.verb}`, { path, body: { entrance_id } }),
    CHANGES,
    (_, { verb }) => said(t(`acts.${verb}Done`)),
  )
  if (!mayPublish) return null
  const isPending = (verb: Act['verb']) => write.isPending && write.variables.verb === verb
  return (
    <div className="pad form">
      {write.error && <Failed error={write.error} />}
      <div className="acts">
        {parked !== undefined && (
          <Button
            size="xs"
            variant="default"
            loading={isPending('retry')}
            disabled={write.isPending}
            onClick={() => write.mutate({ verb: 'retry' })}
          >
            {t('acts.retry')}
          </Button>
        )}
        <Button
          size="xs"
          variant="default"
          loading={isPending('skip')}
          disabled={write.isPending}
          onClick={() => write.mutate({ verb: 'skip' })}
        >
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
        onChange={(to) => to !== null && write.mutate({ verb: 'move', to })}
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
