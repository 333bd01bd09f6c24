import type { components } from '@carillon/sdk'
import { Menu, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { said } from '../../parts/toast.ts'
import { useSession } from '../../session/index.ts'
import { useMay } from '../../session/project.tsx'

type Message = components['schemas']['SandboxMessageReply']

const PATH = '/api/client/sandbox/messages/{messageId}'

/** What can be done with a captured message: see what its recipient sees, and send it to a member of the team. */
export function MessageActions({ message }: { message: Message }) {
  const { t } = useTranslation('sandbox')
  const mayRelease = useMay('editor') && message.channel === 'email'
  const [isReleasing, setReleasing] = useState(false)
  const { id, view_url, preferences_url } = message
  return (
    <>
      <CopyAs label={t('moreOf')} request={{ method: 'GET', path: PATH, params: { messageId: id } }}>
        {view_url !== undefined && <PageItem url={view_url}>{t('recipient.view')}</PageItem>}
        {preferences_url !== undefined && <PageItem url={preferences_url}>{t('recipient.preferences')}</PageItem>}
        {mayRelease && <Menu.Item onClick={() => setReleasing(true)}>{t('release.open')}</Menu.Item>}
      </CopyAs>
      <Modal
        opened={isReleasing}
        onClose={() => setReleasing(false)}
        title={t('release.title')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <ReleaseForm message={message} onClose={() => setReleasing(false)} />
      </Modal>
    </>
  )
}

const PageItem = ({ url, children }: { url: string; children: string }) => (
  <Menu.Item component="a" href={url} target="_blank" rel="noreferrer">
    {children}
  </Menu.Item>
)

function ReleaseForm({ message: { id, summary, recipient }, onClose }: { message: Message; onClose: () => void }) {
  const { t } = useTranslation('sandbox')
  const [to, setTo] = useState(useSession().member.email)
  const release = useWrite(
    (api, to: string) => api.post(`${PATH}/release`, { path: { messageId: id }, body: { to } }),
    [],
    ({ is_accepted }, to) => {
      if (!is_accepted) return
      onClose()
      said(t('release.done', { to }))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    release.mutate(to)
  }
  return (
    <form className="form" onSubmit={submit}>
      <p dir="auto">
        <b>{summary}</b>
        <span className="r">{t('release.sentTo', { recipient })}</span>
      </p>
      <TextInput
        type="email"
        label={t('release.to')}
        description={t('release.toAbout')}
        data-autofocus
        required
        value={to}
        onChange={({ currentTarget }) => setTo(currentTarget.value)}
      />
      <p className="sm quiet">{t('release.about')}</p>
      {release.error && <Failed error={release.error} />}
      <div role="alert">{release.data?.message && <p className="sm">{t('release.refused', { answer: release.data.message })}</p>}</div>
      <FormButtons onCancel={onClose} isPending={release.isPending}>
        {t('release.submit')}
      </FormButtons>
    </form>
  )
}
