import { Button, Group, Modal, TagsInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../../parts/chip.tsx'
import { useWrite } from '../../../parts/data.ts'
import { Failed } from '../../../parts/failed.tsx'
import { useSession } from '../../../session/index.ts'
import type { Campaign } from '../search.ts'
import type { Place } from './template.ts'

const TEST = '/api/client/campaigns/{campaignId}/test'
const TONES = { accepted: 'good', deferred: 'wait', uncertain: 'warn', rejected: 'bad', refused: 'bad' } as const

type Props = {
  campaign: Campaign
  place: Place
  user: string | null
  /** Saves what was typed last, and returns whether all of it is saved: a test sends the saved template. */
  beforeSend: () => Promise<boolean>
  isSaved: boolean
}

/** Sends the message to a few recipients, and says how it differs from what users get. */
export function TestSend({ campaign: { id, channel }, place, user, beforeSend, isSaved }: Props) {
  const { t } = useTranslation('campaigns')
  const { member } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [to, setTo] = useState(channel === 'email' ? [member.email] : [])
  const test = useWrite(
    async (api) => {
      if (!isSaved && !(await beforeSend())) throw new Error(t('test.unsaved'))
      return api.post(TEST, { path: { campaignId: id }, body: { to, ...place, ...(user !== null && { as: user }) } })
    },
    ['/api/client/sandbox'],
  )
  // Results of before are not those of the template as it is now.
  const open = () => {
    if (!test.isPending) test.reset()
    setOpen(true)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    test.mutate(undefined)
  }
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        {t('test.open')}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={t('test.title')} closeButtonProps={{ 'aria-label': t('close') }}>
        <form className="form" onSubmit={submit}>
          <TagsInput label={t('test.to')} description={t('test.toAbout')} value={to} onChange={setTo} required />
          <p className="sm quiet">{t('test.about')}</p>
          {test.error && <Failed error={test.error} />}
          {test.data && (
            <ul className="lines" aria-live="polite">
              {test.data.results.map(({ to, outcome, reason }) => (
                <li key={to}>
                  {to} <Chip state={outcome} tone={TONES[outcome]} {...(reason && { reason })} />
                </li>
              ))}
            </ul>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setOpen(false)}>
              {t('close')}
            </Button>
            <Button type="submit" loading={test.isPending} disabled={to.length === 0}>
              {t('test.send')}
            </Button>
          </Group>
        </form>
      </Modal>
    </>
  )
}
