import type { components } from '@carillon/sdk'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { said } from '../../parts/toast.ts'
import { QUEUE } from './search.ts'

type Chosen = components['schemas']['MailQueueRetryInput']

/** Sending waiting email now, and cancelling it. */
export function useQueueActions(body: Chosen, onCancelled?: () => void) {
  const { t } = useTranslation('mail')
  const retry = useWrite(
    (api) => api.post('/api/client/mail-queue/retry', { body }),
    [QUEUE],
    ({ recipients }) => said(t('retry.done', { count: recipients })),
  )
  const cancel = useWrite(
    (api) => api.post('/api/client/mail-queue/cancel', { body }),
    [QUEUE],
    ({ recipients }) => {
      onCancelled?.()
      said(t('cancelled.done', { count: recipients }))
    },
  )
  return { retry, cancel }
}
