import { Button, Radio, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { JOURNEY, JOURNEYS, type Journey } from './search.ts'

const ENDS = ['drain', 'stop'] as const
type End = (typeof ENDS)[number]

/** What may be done with a journey that was published: hold and resume it, switch it off and on. */
export function Controls({ journey }: { journey: Journey }) {
  const mayPublish = useMay('publisher')
  if (!mayPublish || journey.status === 'draft') return null
  return (
    <>
      <Hold journey={journey} />
      {journey.status === 'live' ? <SwitchOff journey={journey} /> : <SwitchOn journey={journey} />}
    </>
  )
}

function Hold({ journey: { id, is_held } }: { journey: Journey }) {
  const { t } = useTranslation('journeys')
  const verb = is_held ? 'resume' : 'hold'
  const change = useWrite(
    (api) => api.post(`/api/client/journeys/{journeyId}/${verb}`, { path: { journeyId: id } }),
    [JOURNEYS],
    () => said(t(`${verb}.done`)),
  )
  return (
    <>
      {change.error && <Failed error={change.error} />}
      <Button variant="default" loading={change.isPending} onClick={() => change.mutate(undefined)}>
        {t(`${verb}.action`)}
      </Button>
    </>
  )
}

function SwitchOn({ journey: { id } }: { journey: Journey }) {
  const { t } = useTranslation('journeys')
  const change = useWrite(
    (api) => api.patch(JOURNEY, { path: { journeyId: id }, body: { status: 'live' } }),
    [JOURNEYS],
    () => said(t('on.done')),
  )
  return (
    <>
      {change.error && <Failed error={change.error} />}
      <Button variant="default" loading={change.isPending} onClick={() => change.mutate(undefined)}>
        {t('on.action')}
      </Button>
    </>
  )
}

/** Switching off says first what becomes of the users who are inside. */
function SwitchOff({ journey: { id, name, stats } }: { journey: Journey }) {
  const { t } = useTranslation('journeys')
  const [isOpen, setOpen] = useState(false)
  const [end, setEnd] = useState<End>('drain')
  const [within, setWithin] = useState('')
  const path = { path: { journeyId: id } }
  const change = useWrite(
    (api) =>
      end === 'stop'
        ? api.post('/api/client/journeys/{journeyId}/stop', path)
        : api.post('/api/client/journeys/{journeyId}/drain', { ...path, body: within.trim() === '' ? {} : { within: within.trim() } }),
    [JOURNEYS],
    () => {
      setOpen(false)
      said(t('off.done'))
    },
  )
  const count = stats.active ?? 0
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {t('off.open')}
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('off.title', { name })}
        action={t(`off.action.${end}`, { count })}
        isDanger={end === 'stop'}
        isPending={change.isPending}
        error={change.error}
        onConfirm={() => change.mutate(undefined)}
      >
        <Radio.Group label={t('off.users', { count })} value={end} onChange={(next) => setEnd(next as End)}>
          {ENDS.map((id) => (
            <Radio key={id} mt="xs" value={id} label={t(`off.end.${id}`)} description={t(`off.about.${id}`)} />
          ))}
        </Radio.Group>
        {end === 'drain' && (
          <TextInput
            mt="md"
            label={t('off.within')}
            description={t('off.withinAbout')}
            placeholder="3d"
            value={within}
            onChange={(event) => setWithin(event.currentTarget.value)}
          />
        )}
      </Confirm>
    </>
  )
}
