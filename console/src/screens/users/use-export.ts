import { useTranslation } from 'react-i18next'
import { saveFile } from '../../parts/save-file.ts'
import { said } from '../../parts/toast.ts'
import { useApi } from '../../session/project.tsx'

/** Saves everything that is stored about a user as a file. */
export function useExport(userId: string): () => Promise<void> {
  const { t } = useTranslation('users')
  const api = useApi()
  return async () => {
    const everything = await api.get('/api/client/users/{userId}/export', { path: { userId } })
    saveFile({ name: `${userId}.json`, type: 'application/json', text: JSON.stringify(everything, null, 2) })
    said(t('exported'))
  }
}
