import { useTranslation } from 'react-i18next'
import { Copyable } from '../../parts/copy.tsx'

const DOMAIN = 'simulator.carillon.example'
const OUTCOMES = ['bounce', 'complaint', 'deferred', 'slow'] as const

/** The addresses that act out what else can become of an email. */
export function Outcomes() {
  const { t } = useTranslation('sandbox')
  return (
    <details className="pad sm outcomes">
      <summary>{t('outcomes.title')}</summary>
      <p className="quiet">{t('outcomes.about')}</p>
      <dl>
        {OUTCOMES.map((outcome) => (
          <div key={outcome}>
            <dt>{t(`outcomes.of.${outcome}`)}</dt>
            <dd>
              <Copyable value={`${outcome}@${DOMAIN}`} label={t('outcomes.copy', { address: outcome })} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
