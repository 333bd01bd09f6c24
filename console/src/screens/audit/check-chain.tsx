import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'

/** Lets the server compute the hashes of all entries again, to check them. */
export function CheckChain() {
  const { t } = useTranslation('audit')
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {t('check.open')}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={t('check.title')} closeButtonProps={{ 'aria-label': t('close') }}>
        <p className="sm">{t('check.about')}</p>
        <Result />
      </Modal>
    </>
  )
}

function Result() {
  const { t } = useTranslation('audit')
  const { data, error, isFetching, refetch } = useRead('/api/client/audit/check', undefined, { staleTime: 0 })
  if (isFetching) return <Loading />
  if (error) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return null
  return (
    <p className={`say ${data.is_intact ? 'good' : 'bad'}`} role="status">
      {data.is_intact ? t('check.intact', { count: data.entries }) : t('check.wrong', { position: data.first_wrong })}
    </p>
  )
}
