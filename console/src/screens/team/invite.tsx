import { Button, Group, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Code } from '../../parts/code.tsx'
import { useConsoleWrite } from '../../parts/console-data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { Loading } from '../../parts/loading.tsx'
import { call } from '../../session/api.ts'
import type { Invitation, Member } from './member.ts'
import { type Given, NameField, RoleFields, rolesOf } from './role-fields.tsx'

/** Invites a member, and shows the link once. */
export function Invite({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('team')
  const [invitation, setInvitation] = useState<Invitation | null>(null)
  return (
    <Modal
      opened
      onClose={onClose}
      title={invitation ? t('invited.title', { name: invitation.name }) : t('invite.title')}
      closeButtonProps={{ 'aria-label': t('close') }}
      size="lg"
    >
      {invitation ? <Invited invitation={invitation} onClose={onClose} /> : <Form onInvited={setInvitation} onClose={onClose} />}
    </Modal>
  )
}

/** Creates a new link for a member who has not joined. The earlier link stops working. */
export function InviteAgain({ member, onClose }: { member: Member; onClose: () => void }) {
  const { t } = useTranslation('team')
  const { mutate, data, error } = useConsoleWrite((id: number) => call<Invitation>('POST', `members/${id}/invite`))
  useEffect(() => mutate(member.id), [mutate, member.id])
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('invited.title', { name: member.name })}
      closeButtonProps={{ 'aria-label': t('close') }}
      size="lg"
    >
      {error && <Failed error={error} />}
      {!data && !error && <Loading />}
      {data && <Invited invitation={data} onClose={onClose} />}
    </Modal>
  )
}

function Invited({ invitation: { invitation_url, is_mailed, email }, onClose }: { invitation: Invitation; onClose: () => void }) {
  const { t } = useTranslation('team')
  return (
    <div className="form">
      <p className="sm">{t(is_mailed ? 'invited.mailed' : 'invited.about', { email })}</p>
      <Code text={invitation_url} />
      <Group justify="flex-end">
        <Button onClick={onClose}>{t('invited.done')}</Button>
      </Group>
    </div>
  )
}

function Form({ onInvited, onClose }: { onInvited: (invitation: Invitation) => void; onClose: () => void }) {
  const { t } = useTranslation('team')
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [given, setGiven] = useState<Given>({ role: 'member', projects: [] })
  const invite = useConsoleWrite((body: object) => call<Invitation>('POST', 'members', body), onInvited)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate({ email, name, ...rolesOf(given) })
  }
  return (
    <form className="form" onSubmit={submit}>
      {invite.error && <Failed error={invite.error} />}
      <TextInput
        label={t('email')}
        type="email"
        autoComplete="off"
        required
        data-autofocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <NameField name={name} onChange={setName} />
      <RoleFields given={given} onChange={setGiven} />
      <FormButtons onCancel={onClose} isPending={invite.isPending}>
        {t('invite.submit')}
      </FormButtons>
    </form>
  )
}
