import { Button, JsonInput, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { useErrorSince } from '../../parts/error-since.ts'
import { Failed } from '../../parts/failed.tsx'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { JOURNEY, type Journey } from './search.ts'

type Props = { journey: Journey; onEntered: (userId: string) => void }

/** Lets one user enter by hand. The rules of the entrance still hold. */
export function EnterUser({ journey: { id }, onEntered }: Props) {
  const { t } = useTranslation('journeys')
  const mayPublish = useMay('publisher')
  const [isOpen, setOpen] = useState(false)
  const [userId, setUserId] = useState('')
  const [data, setData] = useState('')
  const [key, setKey] = useState('')
  const enter = useWrite(
    (api, data: Record<string, unknown> | undefined) =>
      api.post('/api/client/journeys/{journeyId}/entrances', {
        path: { journeyId: id },
        body: { external_id: userId.trim(), ...(data && { data }), ...(key.trim() !== '' && { key: key.trim() }) },
      }),
    [JOURNEY],
    () => {
      setOpen(false)
      said(t('enter.done', { user: userId.trim() }))
      onEntered(userId.trim())
    },
  )
  const error = useErrorSince(isOpen, enter.error)
  if (!mayPublish) return null
  const submit = (event: FormEvent) => {
    event.preventDefault()
    try {
      enter.mutate(data.trim() === '' ? undefined : (JSON.parse(data) as Record<string, unknown>))
    } catch {
      // The field says that this is no JSON.
    }
  }
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        {t('enter.open')}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={t('enter.title')} closeButtonProps={{ 'aria-label': t('close') }}>
        <form className="form" onSubmit={submit}>
          <p className="sm quiet">{t('enter.about')}</p>
          <TextInput
            label={t('simulate.id')}
            data-autofocus
            required
            value={userId}
            onChange={(event) => setUserId(event.currentTarget.value)}
          />
          <JsonInput
            label={t('simulate.data')}
            description={t('enter.dataAbout')}
            placeholder='{"total": 50}'
            autosize
            minRows={2}
            validationError={t('enter.faulty')}
            value={data}
            onChange={setData}
          />
          <TextInput
            label={t('enter.key')}
            description={t('enter.keyAbout')}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
          />
          {error && <Failed error={error} />}
          <div className="acts">
            <Button type="submit" loading={enter.isPending} disabled={userId.trim() === ''}>
              {t('enter.submit')}
            </Button>
          </div>
        </form>
      </Modal>
    </>
  )
}
