import { Modal } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { useConsoleWrite } from '../../parts/console-data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { changedMembers } from '../../parts/merge.ts'
import { said } from '../../parts/toast.ts'
import { call } from '../../session/api.ts'
import { refreshSession } from '../../session/index.ts'
import type { Member } from './member.ts'
import { type Given, mergeProjects, NameField, RoleFields, rolesOf } from './role-fields.tsx'

type Changes = Partial<Given & { name: string }>
type Props = { member: Member; onClose: () => void }

/** Changes the name and the roles of a member. The new roles apply from the member’s next request. */
export function ChangeMember({ member, onClose }: Props) {
  const { t } = useTranslation('team')
  const [name, setName] = useState(member.name)
  const [given, setGiven] = useState<Given>({ role: member.role, projects: member.projects })
  const change = useConsoleWrite(
    async ({ projects, ...body }: Changes) => {
      const path = `members/${member.id}`
      if (projects === undefined) return call('PATCH', path, body)
      const now = await call<Member>('GET', path)
      return call('PATCH', path, { ...body, projects: mergeProjects(member.projects, projects, now.projects) })
    },
    async () => {
      // The member may be the one who is signed in.
      await refreshSession()
      onClose()
      said(t('change.done', { name }))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(changedMembers({ name: member.name, ...rolesOf(member) }, { name, ...rolesOf(given) }))
  }
  return (
    <Modal opened onClose={onClose} title={t('change.of', { name: member.name })} closeButtonProps={{ 'aria-label': t('close') }} size="lg">
      <form className="form" onSubmit={submit}>
        {change.error && <Failed error={change.error} />}
        <NameField name={name} onChange={setName} />
        <RoleFields given={given} onChange={setGiven} />
        <FormButtons onCancel={onClose} isPending={change.isPending}>
          {t('save')}
        </FormButtons>
      </form>
    </Modal>
  )
}

/** Removing a member ends every session at once, so it is confirmed. */
export function RemoveMember({ member: { id, name }, onClose }: Props) {
  const { t } = useTranslation('team')
  const remove = useConsoleWrite(
    () => call('DELETE', `members/${id}`),
    () => {
      onClose()
      said(t('remove.done', { name }))
    },
  )
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('remove.title', { name })}
      action={t('remove.action')}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
    >
      <p>{t('remove.about')}</p>
    </Confirm>
  )
}
