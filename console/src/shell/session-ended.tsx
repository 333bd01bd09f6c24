import { Modal } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { SignInWays } from '../parts/sign-in-ways.tsx'
import { sessionContinues, useSessionEnded } from '../session/ended.ts'
import { refreshSession, useSession } from '../session/index.ts'
import { queryClient } from '../session/query-client.ts'

/** Asks for the password, or a passkey, over the page when the session has ended. The page, and what was typed into it, stay. */
export function SessionEnded() {
  const { t } = useTranslation()
  const isEnded = useSessionEnded()
  const { member } = useSession()
  const goOn = async () => {
    const session = await refreshSession()
    // A passkey of another member: the page, and what was typed into it, are not theirs.
    if (session?.member.id !== member.id) return window.location.assign('/')
    sessionContinues()
    await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'api' })
  }
  return (
    <Modal
      opened={isEnded}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={t('session.ended')}
    >
      <p className="quiet sm">{t('session.endedAbout')}</p>
      <SignInWays email={member.email} to={`${window.location.pathname}${window.location.search}`} onDone={goOn} />
    </Modal>
  )
}
