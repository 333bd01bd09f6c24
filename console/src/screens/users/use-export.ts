import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { saveFile } from '../../parts/save-file.ts'
import { said } from '../../parts/toast.ts'

/** Saves everything that is stored about a user as a file. */
export function useExport(userId: string) {
  const { t } = useTranslation('users')
  return useWrite(async (api) => {
    const everything = await api.get('/api/client/users/{userId}/export', { path: { userId } })
    saveFile({ name: `${userId}.json`, type: 'application/json', text: JSON.stringify(everything, null, 2) })
    // Here, because it is no write that the toast could offer.
    said(t('exported'))
  }, [])
}
