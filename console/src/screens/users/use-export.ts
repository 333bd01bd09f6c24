import { useTranslation } from 'react-i18next'
import { said } from '../../parts/toast.ts'
import { useApi } from '../../session/project.tsx'

/** Saves everything that is stored about a user as a file. */
export function useExport(userId: string): () => Promise<void> {
  const { t } = useTranslation('users')
  const api = useApi()
  return async () => {
    const everything = await api.get('/api/client/users/{userId}/export', { path: { userId } })
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([JSON.stringify(everything, null, 2)], { type: 'application/json' }))
    link.download = `${userId}.json`
    link.click()
    URL.revokeObjectURL(link.href)
    said(t('exported'))
  }
}
