import { CarillonError } from '@carillon/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { queryClient } from '../session/query-client.ts'
import { signOut } from '../session/single-sign-on.ts'
import { notice } from './notice.ts'
import { mayLeave } from './unsaved.ts'

/** Asks about unsaved changes, and then signs out. Shows a message if that fails, because the session continues. */
export function useSignOut(): () => Promise<void> {
  const { t } = useTranslation()
  const navigate = useNavigate()
  return async () => {
    if (!mayLeave()) return
    try {
      const to = await signOut()
      queryClient.clear()
      if (to.startsWith('/')) await navigate({ to: '/sign-in', ignoreBlocker: true })
      else window.location.assign(to)
    } catch (thrown) {
      if (!(thrown instanceof CarillonError)) throw thrown
      notice(t('account.signOutFailed', { message: thrown.message }))
    }
  }
}
