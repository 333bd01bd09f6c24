import { type Icon, IconAlertTriangle, IconX } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Card } from '../../parts/page.tsx'
import { useProject } from '../../session/project.tsx'

type Problem = { id: string; tone: 'bad' | 'warn'; title: string; about: string; to: string }

const PAGE = 100
const READ_AGAIN_MS = 60_000

/** What is wrong in the project, worst first. */
export function useProblems(): Problem[] {
  const { t } = useTranslation('home')
  const { id: project } = useProject()
  const webhooks = useRead('/api/client/webhooks', { query: { limit: PAGE } }, { refetchInterval: READ_AGAIN_MS })
  const domains = useRead('/api/client/domains', { query: { limit: PAGE } }, { refetchInterval: READ_AGAIN_MS })
  const disabled = (webhooks.data?.results ?? [])
    .filter(({ status }) => status === 'disabled')
    .map(
      ({ id, name }): Problem => ({
        id: `webhook-${id}`,
        tone: 'bad',
        title: t('problems.webhook', { name }),
        about: t('problems.webhookAbout'),
        to: `/p/${project}/webhooks/${id}`,
      }),
    )
  const broken = (domains.data?.results ?? []).flatMap(({ id, host, problem, sending }): Problem[] => {
    const found = problem ?? sending?.problem
    return found
      ? [{ id: `domain-${id}`, tone: 'warn', title: t('problems.domain', { host }), about: found, to: `/p/${project}/domains/${id}` }]
      : []
  })
  return [...disabled, ...broken]
}

const ICONS: Record<Problem['tone'], Icon> = { bad: IconX, warn: IconAlertTriangle }

/** The problems with the way to each. */
export function Problems({ problems }: { problems: Problem[] }) {
  const { t } = useTranslation('home')
  return (
    <Card title={t('problems.heading')} aside={t('problems.order')}>
      <ul className="probs">
        {problems.map(({ id, tone, title, about, to }) => {
          const IconOf = ICONS[tone]
          return (
            <li key={id}>
              <span className={`badge ${tone}`}>
                <IconOf size={16} stroke={1.5} aria-hidden />
              </span>
              <div>
                <h3>{title}</h3>
                <p>{about}</p>
              </div>
              <Link className="b" to={to} aria-label={`${t('problems.open')}: ${title}`}>
                {t('problems.open')}
              </Link>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
