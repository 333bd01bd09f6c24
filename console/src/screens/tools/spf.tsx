import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Code } from '../../parts/code.tsx'
import { useWrite } from '../../parts/data.ts'
import { Tool } from './tool.tsx'

/** The SPF record of a domain and its problems. */
export function Spf() {
  const { t } = useTranslation('tools')
  const [domain, setDomain] = useState('')
  const call = useWrite((api) => api.post('/api/ext/generic/email/spf-lookup', { body: { domain } }), [])
  return (
    <Tool
      title={t('spf.title')}
      about={t('spf.about')}
      action={t('spf.action')}
      call={call}
      result={({ data: { record, warnings } }) => (
        <>
          {record !== '' && <Code text={record} />}
          {warnings.length === 0 ? (
            <p className="say good">{t('spf.good')}</p>
          ) : (
            <ul className="form">
              {warnings.map((warning) => (
                <li key={warning} className="say warn">
                  {warning}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    >
      <TextInput
        label={t('spf.label')}
        placeholder="example.com"
        required
        value={domain}
        onChange={(event) => setDomain(event.currentTarget.value)}
      />
    </Tool>
  )
}
