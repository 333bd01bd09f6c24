import { Anchor } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Code } from '../../parts/code.tsx'
import { useConsoleRead } from '../../parts/console-data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Gates } from '../../parts/gates.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Num } from '../../parts/number.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { sizeOf } from '../../parts/sizes.ts'
import { Time } from '../../parts/time.tsx'
import { checksOf, type System } from './checks.ts'

const READ_EVERY_MS = 10_000
const GUIDE = '/docs/operate/tools'

/** The state of the server, for its operators. */
export function SystemHealth() {
  const { t } = useTranslation('system')
  const system = useConsoleRead<System>('system', READ_EVERY_MS)
  return (
    <>
      <PageHead title={t('title')} about={t('about')} />
      {system.isPending && <Loading />}
      {system.error && <Failed error={system.error} onRetry={() => void system.refetch()} />}
      {system.data && <State system={system.data} />}
    </>
  )
}

function State({ system }: { system: System }) {
  const { t } = useTranslation('system')
  return (
    <div className="cols two">
      <div className="stack">
        <Card title={t('checks.heading')} aside={<Time at={system.read_at} />}>
          <Gates
            gates={checksOf(system).map(({ id, passes }) => ({
              id,
              passes,
              label: t(`checks.${id}.${passes === false ? 'bad' : passes === null ? 'none' : 'good'}`),
            }))}
          />
        </Card>
        <Queues system={system} />
        <Processes processes={system.processes} />
        <Retention retention={system.retention} />
      </div>
      <div className="stack">
        <Versions system={system} />
        <Storage system={system} />
        <Backups />
      </div>
    </div>
  )
}

function Queues({ system: { queues, parked } }: { system: System }) {
  const { t } = useTranslation('system')
  return (
    <Card title={t('queues.heading')}>
      <table className="rows" aria-label={t('queues.heading')}>
        <thead>
          <tr>
            <th scope="col">{t('queues.queue')}</th>
            <th scope="col" className="num">
              {t('queues.waiting')}
            </th>
            <th scope="col" className="num">
              {t('queues.oldest')}
            </th>
          </tr>
        </thead>
        <tbody>
          {queues.map(({ name, waiting, oldest_at }) => (
            <tr key={name}>
              <th scope="row">{t(`queues.${name}`, { defaultValue: name })}</th>
              <td className="num">
                <Num value={waiting} />
              </td>
              <td className="num">{oldest_at === null ? <span className="quiet">–</span> : <Time at={oldest_at} />}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">{t('queues.parked')}</th>
            <td className="num">
              <Num value={parked} />
            </td>
            <td className="num">
              <span className="quiet">–</span>
            </td>
          </tr>
        </tbody>
      </table>
    </Card>
  )
}

function Processes({ processes }: Pick<System, 'processes'>) {
  const { t } = useTranslation('system')
  return (
    <Card title={t('processes.heading')} aside={t('processes.count', { count: processes.length })}>
      <ul className="lines">
        {processes.map(({ connected_at }, index) => (
          <li key={connected_at}>
            <span>{t('processes.nth', { number: index + 1 })}</span>
            <span className="quiet">
              {t('processes.since')} <Time at={connected_at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Versions({ system: { version, node_version, database, migrations } }: { system: System }) {
  const { t } = useTranslation('system')
  return (
    <Card title={t('versions.heading')}>
      <dl className="kv pad">
        <dt>Carillon</dt>
        <dd>{version}</dd>
        <dt>Node.js</dt>
        <dd>{node_version}</dd>
        <dt>PostgreSQL</dt>
        <dd>
          {database.version} · {t(database.is_embedded ? 'versions.embedded' : 'versions.own')}
        </dd>
        <dt>{t('versions.schema')}</dt>
        <dd>
          {t('versions.migration', { number: migrations.applied, name: migrations.name })} · <Time at={migrations.applied_at} />
        </dd>
        <dt>{t('versions.health')}</dt>
        <dd className="acts">
          <Outside href="/livez">livez</Outside>
          <Outside href="/readyz">readyz</Outside>
          <Outside href="/docs/operate/monitoring">{t('versions.monitoring')}</Outside>
        </dd>
      </dl>
    </Card>
  )
}

function Outside({ href, children }: { href: string; children: string }) {
  return (
    <Anchor href={href} target="_blank" rel="noopener" inherit>
      {children} <IconExternalLink size={14} stroke={1.5} aria-hidden />
    </Anchor>
  )
}

function Storage({ system: { database, disk } }: { system: System }) {
  const { t, i18n } = useTranslation('system')
  const size = (bytes: number) => sizeOf(i18n.language, bytes)
  return (
    <Card title={t('storage.heading')}>
      <dl className="kv pad">
        <dt>{t('storage.database')}</dt>
        <dd>{size(database.size_bytes)}</dd>
        <dt>{t('storage.disk')}</dt>
        <dd>{disk === null ? t('storage.unknown') : t('storage.free', { free: size(disk.free_bytes), size: size(disk.size_bytes) })}</dd>
      </dl>
      <table className="rows" aria-label={t('storage.tables')}>
        <thead>
          <tr>
            <th scope="col">{t('storage.table')}</th>
            <th scope="col" className="num">
              {t('storage.size')}
            </th>
          </tr>
        </thead>
        <tbody>
          {database.tables.map(({ name, size_bytes }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td className="num">{size(size_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

function Retention({ retention }: Pick<System, 'retention'>) {
  const { t } = useTranslation('system')
  return (
    <Card title={t('retention.heading')}>
      <dl className="kv pad">
        {retention.map(({ setting, value }) => (
          <div key={setting} className="contents">
            <dt>{t(`retention.${setting}`, { defaultValue: setting })}</dt>
            <dd>
              {value === 0
                ? t('retention.forever')
                : t(setting.endsWith('_MONTHS') ? 'retention.months' : 'retention.days', { count: value })}
            </dd>
          </div>
        ))}
      </dl>
      <p className="pad quiet sm">{t('retention.about')}</p>
    </Card>
  )
}

function Backups() {
  const { t } = useTranslation('system')
  return (
    <Card title={t('backups.heading')}>
      <div className="form pad">
        <p className="sm">{t('backups.about')}</p>
        <Code text="npx carillon backup /backups/carillon" />
        <p className="sm">
          <Outside href={GUIDE}>{t('backups.guide')}</Outside>
        </p>
      </div>
    </Card>
  )
}
