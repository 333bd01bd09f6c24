import { Button } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import type { Session } from '../../session/api.ts'
import { useSession } from '../../session/index.ts'
import { Invite, InviteAgain } from './invite.tsx'
import { type Member, mayChange, useTeam } from './member.ts'
import { ChangeMember, RemoveMember } from './roles.tsx'

/** What is open above the list. */
type Open = { is: 'invite' } | { is: 'again' | 'change' | 'remove'; member: Member } | null

/** The members of the organisation and their roles. */
export function Team() {
  const { t } = useTranslation('team')
  const session = useSession()
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const team = useTeam()
  const columns = useColumns(session, setOpen)
  return (
    <>
      <PageHead
        title={t('title')}
        about={t('about', { name: session.organisation.name })}
        actions={session.role !== 'member' && <AddButton onClick={() => setOpen({ is: 'invite' })}>{t('invite.open')}</AddButton>}
      />
      <Card>
        {/* There is always a member, who reads this, and there is one page. */}
        <DataTable label={t('title')} columns={columns} query={team} rowKey={({ id }) => id} empty={null} onPage={close} />
      </Card>
      {open?.is === 'invite' && <Invite onClose={close} />}
      {open?.is === 'again' && <InviteAgain member={open.member} onClose={close} />}
      {open?.is === 'change' && <ChangeMember member={open.member} onClose={close} />}
      {open?.is === 'remove' && <RemoveMember member={open.member} onClose={close} />}
    </>
  )
}

function useColumns(session: Session, onOpen: (open: Open) => void): Column<Member>[] {
  const { t } = useTranslation('team')
  const actions: Column<Member> = {
    id: 'actions',
    label: t('column.actions'),
    isUnlabelled: true,
    isNumber: true,
    isWide: true,
    cell: (member) => mayChange(session, member) && <Actions member={member} onOpen={onOpen} />,
  }
  return [
    {
      id: 'name',
      label: t('column.name'),
      cell: ({ name, email }) => (
        <>
          {name}
          <span className="r">{email}</span>
        </>
      ),
      isWide: true,
    },
    { id: 'role', label: t('column.role'), cell: (member) => <Roles member={member} session={session} />, isWide: true },
    {
      id: 'state',
      label: t('column.state'),
      cell: ({ is_invited }) => <Chip state={t(is_invited ? 'state.invited' : 'state.joined')} tone={is_invited ? 'wait' : 'good'} />,
    },
    { id: 'totp', label: t('column.totp'), cell: ({ has_totp, has_passkey }) => t(has_totp || has_passkey ? 'yes' : 'no'), isExtra: true },
    {
      id: 'active',
      label: t('column.active'),
      cell: ({ active_at }) => (active_at === null ? <span className="quiet">–</span> : <Time at={active_at} />),
      isExtra: true,
    },
    ...(session.role === 'member' ? [] : [actions]),
  ]
}

/** The role in the organisation, and those in projects that the reader sees. */
function Roles({ member: { role, projects }, session }: { member: Member; session: Session }) {
  const { t } = useTranslation('team')
  const names = new Map(session.projects.map(({ id, name }) => [id, name]))
  const shown = projects.filter(({ project_id }) => names.has(project_id))
  return (
    <>
      {t(`role.${role}`)}
      {role === 'member' && (
        <span className="r">
          {shown.length === 0 ? t('noProject') : shown.map(({ project_id, role }) => `${names.get(project_id)}: ${role}`).join(', ')}
        </span>
      )}
    </>
  )
}

function Actions({ member, onOpen }: { member: Member; onOpen: (open: Open) => void }) {
  const { t } = useTranslation('team')
  const { name } = member
  return (
    <span className="acts">
      {member.is_invited && (
        <Button size="xs" variant="default" aria-label={t('again.of', { name })} onClick={() => onOpen({ is: 'again', member })}>
          {t('again.open')}
        </Button>
      )}
      <Button size="xs" variant="default" aria-label={t('change.of', { name })} onClick={() => onOpen({ is: 'change', member })}>
        {t('change.open')}
      </Button>
      <Button size="xs" variant="default" aria-label={t('remove.of', { name })} onClick={() => onOpen({ is: 'remove', member })}>
        {t('remove.open')}
      </Button>
    </span>
  )
}
