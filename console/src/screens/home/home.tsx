import { useTranslation } from 'react-i18next'
import { PageHead } from '../../parts/page.tsx'
import { instant } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'
import { Checklist } from './checklist.tsx'
import { Problems, useProblems } from './problems.tsx'
import { Sending } from './sending.tsx'

/** Problems first, then what is left to set up. */
export function Home() {
  const { t, i18n } = useTranslation('home')
  const { name, timezone } = useProject()
  const problems = useProblems()
  const title = problems.length === 0 ? name : t('problems.title', { count: problems.length })
  return (
    <>
      <PageHead title={title} about={instant(i18n.language, { at: new Date(), zone: timezone })} />
      <div className="stack">
        {problems.length > 0 && <Problems problems={problems} />}
        <Sending />
        <Checklist />
      </div>
    </>
  )
}
