import { CarillonError } from '@carillon/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { queryClient } from '../session/query-client.ts'
import { signOut } from '../session/single-sign-on.ts'
import { notice } from './notice.ts'
import { mayLeave } from './unsaved.ts'

/** Signs out, unless the member stays because of what is not saved. Says so if it fails: the session goes on. */
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
