import { useLocation, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { refreshSession } from '../../session/index.ts'
import { Door, tokenOf } from './door.tsx'
import { NewMember } from './new-member.tsx'

/** Accepts an invitation: a name, a password, and the member is signed in. */
export function Invitation() {
  const { t } = useTranslation('sign-in')
  const navigate = useNavigate()
  const token = tokenOf(useLocation().hash)
  const open = async () => {
    await refreshSession()
    await navigate({ to: '/', replace: true })
  }
  if (token === '') return <Door title={t('link.title')} about={t('link.invitation')} />
  return (
    <Door title={t('invitation.title')} about={t('invitation.about')}>
      <NewMember path="accept-invitation" token={token} asksForEmail={false} submit={t('invitation.submit')} onDone={open} />
    </Door>
  )
}
