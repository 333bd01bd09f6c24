import { NumberInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Tool } from './tool.tsx'

const SUBMISSION_PORT = 587

/** Whether this server can open a connection to a host. */
export function Tcp() {
  const { t } = useTranslation('tools')
  const [host, setHost] = useState('')
  const [port, setPort] = useState<string | number>(SUBMISSION_PORT)
  const call = useWrite((api) => api.post('/api/ext/generic/dns/tcp-verifier', { body: { domain_ip: host, port: String(port) } }), [])
  return (
    <Tool
      title={t('tcp.title')}
      about={t('tcp.about')}
      action={t('tcp.action')}
      call={call}
      result={({ data: { connection } }) => (
        <p className={`say ${connection === 'success' ? 'good' : 'bad'}`}>{t(`tcp.result.${connection}`)}</p>
      )}
    >
      <div className="two">
        <TextInput
          label={t('tcp.host')}
          placeholder="smtp.example.com"
          required
          value={host}
          onChange={(event) => setHost(event.currentTarget.value)}
        />
        <NumberInput label={t('tcp.port')} required min={1} max={65_535} allowDecimal={false} value={port} onChange={setPort} />
      </div>
    </Tool>
  )
}
