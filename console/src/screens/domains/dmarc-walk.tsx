import { useTranslation } from 'react-i18next'
import { day } from '../../parts/time.tsx'
import type { Domain } from './search.ts'

const STEPS = ['none', 'quarantine', 'reject'] as const

/**
 * How far a domain has come with its DMARC policy: the current stage, the next one and when it is due, and who gets the reports of
 * receivers.
 */
export function DmarcWalk({ dmarc }: { dmarc: NonNullable<NonNullable<Domain['sending']>['dmarc']> }) {
  const { t } = useTranslation('domains')
  const { policy, is_inherited, reports_to } = dmarc
  const at = STEPS.indexOf(policy)
  return (
    <div className="dmarc-walk sm">
      <ol>
        {STEPS.map((step, index) => (
          <li key={step} className={index <= at ? 'reached' : undefined} aria-current={index === at ? 'step' : undefined}>
            <b>{step}</b> <span className="quiet">{t(`dmarc.step.${step}`)}</span>
          </li>
        ))}
      </ol>
      {!is_inherited && <Next dmarc={dmarc} />}
      <p>{t('dmarc.aligned')}</p>
      <p>{reports_to.length > 0 ? t('dmarc.reports', { addresses: reports_to.join(', ') }) : t('dmarc.noReports')}</p>
    </div>
  )
}

function Next({ dmarc: { next_policy, next_at } }: Parameters<typeof DmarcWalk>[0]) {
  const { t, i18n } = useTranslation('domains')
  if (next_policy === null) return <p>{t('dmarc.done')}</p>
  if (next_at === null) return <p>{t('dmarc.waits', { policy: next_policy })}</p>
  const isDue = Date.parse(next_at) <= Date.now()
  return (
    <p>
      {isDue
        ? t('dmarc.due', { policy: next_policy })
        : t('dmarc.later', { policy: next_policy, day: day(i18n.language, { at: next_at }) })}
    </p>
  )
}
