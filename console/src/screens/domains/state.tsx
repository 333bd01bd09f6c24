import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { type Domain, stateOf } from './search.ts'

/** What the domain is used for now, and the problems that prevent a use. */
export function State({ domain: { host, is_verified, is_default, problem, sending, checked_at } }: { domain: Domain }) {
  const { t } = useTranslation('domains')
  return (
    <Card title={t('state.heading')}>
      <dl className="sides">
        {sending && (
          <Side title={t('column.email')} state={stateOf(sending.is_verified, checked_at)}>
            <dd>{t(sending.is_verified ? 'state.signs' : 'state.signsNot', { domain: sending.domain })}</dd>
            {sending.problem && <dd>{sending.problem}</dd>}
            <dd>{t('state.returnPath', { domain: sending.return_path })}</dd>
          </Side>
        )}
        <Side title={t('column.links')} state={stateOf(is_verified, checked_at)}>
          <dd>{t(is_verified ? 'state.links' : 'state.linksNot', { host })}</dd>
          {problem && <dd>{problem}</dd>}
        </Side>
        {is_default && (
          <Side title={t('default')}>
            <dd>{t('add.defaultAbout')}</dd>
          </Side>
        )}
        <Side title={t('column.checked')}>
          <dd>{checked_at === null ? t('state.unchecked') : <Time at={checked_at} />}</dd>
          <dd>{t('state.again')}</dd>
          {sending?.dns_host && <dd>{t('state.dnsHost', { host: sending.dns_host })}</dd>}
        </Side>
      </dl>
    </Card>
  )
}

function Side({ title, state, children }: { title: string; state?: string; children: ReactNode }) {
  return (
    <div>
      <dt>
        {title}
        {state && <Chip state={state} />}
      </dt>
      {children}
    </div>
  )
}
