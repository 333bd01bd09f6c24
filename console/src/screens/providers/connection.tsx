import { Button } from '@mantine/core'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Card } from '../../parts/page.tsx'
import { Sentence } from '../../parts/sentence.tsx'

/** Tests the connection and the credentials. No message is sent. */
export function Connection({ providerId }: { providerId: number }) {
  const { t } = useTranslation('providers')
  const test = useWrite((api) => api.post('/api/client/providers/{providerId}/test', { path: { providerId } }), [])
  const result = test.isPending ? undefined : test.data
  return (
    <Card title={t('test.heading')}>
      <div className="form pad">
        <p className="quiet sm">{t('test.about')}</p>
        <output>
          {result && (
            <span className={`say ${result.works ? 'good' : 'bad'}`}>
              {result.works ? <IconCheck size={16} stroke={1.5} aria-hidden /> : <IconAlertTriangle size={16} stroke={1.5} aria-hidden />}
              <span>
                <b>{t(result.works ? 'test.works' : 'test.fails')}</b> <Sentence text={result.message ?? ''} />
              </span>
            </span>
          )}
        </output>
        {test.error && <Failed error={test.error} />}
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate(undefined)}>
          {t('test.submit')}
        </Button>
      </div>
    </Card>
  )
}
