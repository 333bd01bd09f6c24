import { type Icon, IconAlertTriangle, IconX } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Card } from '../../parts/page.tsx'
import { Sentence } from '../../parts/sentence.tsx'
import type { Problem } from './overview.ts'

const ICONS: Record<Problem['tone'], Icon> = { bad: IconX, warn: IconAlertTriangle }

/** The problems, each with a link to where it can be solved. */
export function Problems({ problems }: { problems: Problem[] }) {
  const { t } = useTranslation('home')
  return (
    <Card title={t('problems.heading')} aside={t('problems.order')}>
      <ul className="probs">
        {problems.map(({ id, tone, kind, name, message, to, search }) => {
          const IconOf = ICONS[tone]
          const title = t(`problems.is.${kind}`, { name })
          return (
            <li key={id}>
              <span className={`badge ${tone}`}>
                <IconOf size={16} stroke={1.5} aria-hidden />
              </span>
              <div>
                <h3>{title}</h3>
                <p>
                  <Sentence text={message} />
                </p>
              </div>
              {to !== null && (
                <Link className="b" to={to} search={search} aria-label={`${t('problems.open')}: ${title}`}>
                  {t('problems.open')}
                </Link>
              )}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
