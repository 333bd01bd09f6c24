import { NumberInput, Select, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../../parts/data.ts'
import { Retries } from './retries.tsx'
import type { StepProps } from './step.ts'

/** Its name, and what users must have agreed to. Type and channel are fixed once it exists. */
export function AboutStep({ campaign: { channel }, autosave: { draft, change } }: StepProps) {
  const { t } = useTranslation('campaigns')
  const { data } = useRead('/api/client/subscriptions', { query: { limit: 100 } })
  const types = (data?.results ?? []).filter((type) => type.channel === channel)
  return (
    <div className="form pad narrow">
      <TextInput
        label={t('field.name')}
        required
        value={draft.name}
        onChange={(event) => change({ ...draft, name: event.currentTarget.value })}
      />
      <Select
        label={t('field.subscription')}
        description={t('field.subscriptionAbout')}
        data={types.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={String(draft.subscription_id)}
        allowDeselect={false}
        onChange={(id) => id && change({ ...draft, subscription_id: Number(id) })}
      />
      <NumberInput
        label={t('field.expires')}
        description={t('field.expiresAbout')}
        value={draft.expires_after_hours}
        min={1}
        allowDecimal={false}
        onChange={(hours) => typeof hours === 'number' && hours > 0 && change({ ...draft, expires_after_hours: hours })}
      />
      {channel === 'email' && (
        <Retries retries={draft.mail_retries ?? null} onChange={(retries) => change({ ...draft, mail_retries: retries })} />
      )}
    </div>
  )
}
