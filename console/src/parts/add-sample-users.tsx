import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useWrite } from './data.ts'
import { Failed } from './failed.tsx'
import { SAMPLE_USERS } from './sample-users.ts'
import { said } from './toast.ts'

/** Adds the sample users. */
export function AddSampleUsers({ size = 'sm' }: { size?: 'xs' | 'sm' }) {
  const { t } = useTranslation()
  const add = useWrite(
    (api) => api.patch('/api/client/users', { body: SAMPLE_USERS }),
    ['/api/client/users'],
    () => said(t('sampleUsers.added')),
  )
  return (
    <>
      <Button size={size} loading={add.isPending} onClick={() => add.mutate(undefined)}>
        {t('sampleUsers.add', { count: SAMPLE_USERS.length })}
      </Button>
      {add.error && <Failed error={add.error} />}
    </>
  )
}
