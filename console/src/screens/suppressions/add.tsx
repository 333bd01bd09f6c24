import type { components } from '@carillon/sdk'
import { Modal, Select, Textarea } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ADDRESSED } from '../../parts/channels.ts'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { said } from '../../parts/toast.ts'

type Input = components['schemas']['SuppressionInput']

const REASONS = ['manual', 'unsubscribed_all', 'hard_bounce', 'complaint'] as const
const ADDRESSES_MAX = 100

/** Suppresses addresses: all of them or none. */
export function AddSuppressions({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('suppressions')
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('add.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      <Form onClose={onClose} />
    </Modal>
  )
}

function Form({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('suppressions')
  const [channel, setChannel] = useState<Input['channel']>('email')
  const [reason, setReason] = useState<NonNullable<Input['reason']>>('manual')
  const [text, setText] = useState('')
  const addresses = [...new Set(text.split('\n').map((line) => line.trim()))].filter((address) => address !== '')
  const add = useWrite(
    (api) => api.post('/api/client/suppressions', { body: addresses.map((address): Input => ({ channel, address, reason })) }),
    ['/api/client/suppressions'],
    ({ results }) => {
      onClose()
      said(t('add.done', { count: results.length }))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate(undefined)
  }
  return (
    <form className="form" onSubmit={submit}>
      {add.error && <Failed error={add.error} />}
      <Select
        label={t('column.channel')}
        data={ADDRESSED.map((value) => ({ value, label: t(`channel.${value}.name`) }))}
        value={channel}
        allowDeselect={false}
        onChange={(next) => setChannel(next as typeof channel)}
      />
      <Textarea
        label={t(`channel.${channel}.addresses`)}
        description={t('add.most', { count: ADDRESSES_MAX })}
        required
        autosize
        minRows={3}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Select
        label={t('column.reason')}
        description={t(`reason.${reason}`)}
        data={[...REASONS]}
        value={reason}
        allowDeselect={false}
        onChange={(next) => setReason(next as typeof reason)}
      />
      <FormButtons onCancel={onClose} isPending={add.isPending} disabled={addresses.length === 0 || addresses.length > ADDRESSES_MAX}>
        {t('add.submit', { count: addresses.length })}
      </FormButtons>
    </form>
  )
}
