import { Modal, Select } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useReadAll, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { OPTIONS_MAX } from '../../parts/paging.ts'
import type { User } from './columns.tsx'

const TONES = { accepted: 'good', deferred: 'wait', uncertain: 'warn', rejected: 'bad', refused: 'bad' } as const

/** What the message begins with. */
const summaryOf = (content: Record<string, unknown> | null | undefined): string => {
  const line = content?.subject ?? content?.title ?? content?.body
  return typeof line === 'string' ? line : ''
}

type Props = { user: User; name: string; isOpen: boolean; onClose: () => void }

/** Sends this user the message of a campaign as a test, as it would be for them. */
export function TestSend({ isOpen, ...props }: Props) {
  const { t } = useTranslation('users')
  const title = t('test.title', { name: props.name })
  return (
    <Modal opened={isOpen} onClose={props.onClose} title={title} closeButtonProps={{ 'aria-label': t('close') }}>
      <Form {...props} />
    </Modal>
  )
}

function Form({ user: { external_id: userId }, onClose }: Omit<Props, 'isOpen'>) {
  const { t } = useTranslation('users')
  const [chosen, setChosen] = useState<string | null>(null)
  const campaigns = useReadAll('/api/client/campaigns')
  const test = useWrite(
    (api, campaignId: number) =>
      api.post('/api/client/campaigns/{campaignId}/test', { path: { campaignId }, body: { to: [userId], as: userId } }),
    ['/api/client/sandbox'],
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (chosen !== null) test.mutate(Number(chosen))
  }
  // A request of a webhook campaign goes to its endpoint, and not to the user.
  const offered = (campaigns.data ?? []).filter(({ channel }) => channel !== 'webhook')
  return (
    <form className="form" onSubmit={submit}>
      {campaigns.error && <Failed error={campaigns.error} />}
      <Select
        label={t('explain.campaign')}
        data-autofocus
        required
        searchable
        limit={OPTIONS_MAX}
        data={offered.map(({ id, name, channel }) => ({ value: String(id), label: `${name} · ${t(`channel.${channel}.name`)}` }))}
        value={chosen}
        onChange={(value) => {
          setChosen(value)
          test.reset()
        }}
        nothingFoundMessage={t('explain.empty')}
      />
      <p className="sm quiet">{t('test.about')}</p>
      {test.error && <Failed error={test.error} />}
      <div aria-live="polite">
        {test.data?.results.map(({ to, outcome, reason, content }) => (
          <p key={to}>
            <Chip state={outcome} tone={TONES[outcome]} {...(reason && { reason })} /> <span dir="auto">{summaryOf(content)}</span>
          </p>
        ))}
      </div>
      <FormButtons onCancel={onClose} isPending={test.isPending} disabled={chosen === null}>
        {t('test.submit')}
      </FormButtons>
    </form>
  )
}
