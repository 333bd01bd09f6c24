import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { useRead } from '../../parts/data.ts'
import { Card } from '../../parts/page.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { said } from '../../parts/toast.ts'
import { DmarcWalk } from './dmarc-walk.tsx'
import { type DnsRecord, type Domain, nameOf, ZONE_FILE } from './search.ts'
import './domains.css'

/** The records of each side of a domain, in the order in which they matter. */
const SIDES = [
  ['email', ['dkim', 'dmarc', 'return_path', 'spf']],
  ['links', ['tracking', 'ownership']],
] as const

/** The records to publish: the expected values beside those found, each with a button that copies it. */
export function Records({ domain }: { domain: Domain }) {
  const { t } = useTranslation('domains')
  return (
    <div className="stack">
      {SIDES.map(([side, purposes]) => {
        const records = purposes.flatMap((purpose) => domain.records.filter((record) => record.purpose === purpose))
        if (records.length === 0) return null
        return (
          <Card
            key={side}
            title={t(`side.${side}`)}
            aside={t('found', { found: records.filter(({ status }) => status === 'ok').length, all: records.length })}
          >
            <ul className="dns">
              {records.map((record) => (
                <RecordLine key={`${record.type} ${record.name} ${record.value}`} record={record} dmarc={domain.sending?.dmarc} />
              ))}
            </ul>
          </Card>
        )
      })}
      <ZoneFile domain={domain} />
    </div>
  )
}

type LineProps = { record: DnsRecord; dmarc: NonNullable<Domain['sending']>['dmarc'] | undefined }

function RecordLine({ record: { purpose, type, name, value, is_required, status, found, note }, dmarc }: LineProps) {
  const { t } = useTranslation('domains')
  const title = t(`purpose.${purpose}.title`)
  return (
    <li>
      <div className="t">
        <h3>{title}</h3>
        <Chip state={status} />
        {is_required && <span className="quiet xs">{t('required')}</span>}
      </div>
      <p className="quiet xs">{t(`purpose.${purpose}.about`)}</p>
      <dl className="kv">
        <dt>{type}</dt>
        <dd>
          <Copyable value={name} label={t('copyName', { title })} />
        </dd>
        <dt>{t('value')}</dt>
        <dd>
          <Copyable value={value} label={t('copyValue', { title })} />
        </dd>
        {status !== 'ok' && found.length > 0 && (
          <>
            <dt>{t('foundValue')}</dt>
            <dd>
              {found.map((value) => (
                <code key={value}>{value}</code>
              ))}
            </dd>
          </>
        )}
      </dl>
      {note && <p className="sm">{note}</p>}
      {purpose === 'dmarc' && dmarc && <DmarcWalk dmarc={dmarc} />}
    </li>
  )
}

/** All records at once, in the format that hosts of DNS import. */
function ZoneFile({ domain }: { domain: Domain }) {
  const { t } = useTranslation('domains')
  const { data } = useRead(ZONE_FILE, { path: { domainId: domain.id } })
  if (data === undefined) return null
  const text = String(data)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    said(t('zone.copied'))
  }
  return (
    <Card title={t('zone.heading')}>
      <div className="pad form">
        <p className="sm">{t('zone.about')}</p>
        <div className="acts">
          <Button variant="default" size="xs" onClick={() => void copy()}>
            {t('zone.copy')}
          </Button>
          <Button variant="default" size="xs" onClick={() => saveFile({ name: `${nameOf(domain)}.zone`, type: 'text/dns', text })}>
            {t('zone.save')}
          </Button>
        </div>
      </div>
    </Card>
  )
}
