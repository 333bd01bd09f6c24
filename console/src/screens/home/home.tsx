import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { PageHead } from '../../parts/page.tsx'
import { instant, Time } from '../../parts/time.tsx'
import { useSession } from '../../session/index.ts'
import { useProject } from '../../session/project.tsx'
import { Checklist } from './checklist.tsx'
import { Drafts } from './drafts.tsx'
import { OVERVIEW, problemsOf } from './overview.ts'
import { Problems } from './problems.tsx'
import { readAgain } from './read-again.ts'
import { Sending } from './sending.tsx'
import { Week } from './week.tsx'

const READ_AGAIN = readAgain(10_000)

/** Problems first, then what is being sent, the last days, and what is left to set up. */
export function Home() {
  const { t, i18n } = useTranslation('home')
  const { id, name, timezone } = useProject()
  const { role } = useSession()
  const { data, error, refetch } = useRead(OVERVIEW, undefined, READ_AGAIN)
  const problems = data ? problemsOf(id, role === 'owner', data) : []
  const title = problems.length === 0 ? name : t('problems.title', { count: problems.length })
  const waiting = data?.processing.waiting_since
  return (
    <>
      <PageHead
        title={title}
        about={
          <>
            {instant(i18n.language, { at: new Date(), zone: timezone })}
            {data && ' · '}
            {data && (waiting ? t('processing.waiting') : t('processing.none'))} {waiting && <Time at={waiting} zone={timezone} />}
          </>
        }
      />
      <div className="stack">
        {error && !data && <Failed error={error} onRetry={() => void refetch()} />}
        {problems.length > 0 && <Problems problems={problems} />}
        <Sending />
        {data && <Week channels={data.channels} />}
        <Drafts />
        <Checklist />
      </div>
    </>
  )
}
