import { CarillonError, type Reply } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconX } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ifVersion } from '../../../parts/autosave.ts'
import { Confirm } from '../../../parts/confirm.tsx'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { useRead, useWrite } from '../../../parts/data.ts'
import { Failed } from '../../../parts/failed.tsx'
import { Loading } from '../../../parts/loading.tsx'
import { useLocalDrafts } from '../../../parts/local-drafts.ts'
import { isSame } from '../../../parts/merge.ts'
import { Card } from '../../../parts/page.tsx'
import { instant } from '../../../parts/time.tsx'
import { readServerClock, useServerClock } from '../../../session/end.ts'
import { useMay, useProject } from '../../../session/project.tsx'
import { draftsOf } from '../editor/template.ts'
import { FunnelOf, reachedBy, usePreflight } from '../funnel.tsx'
import { CAMPAIGN, CAMPAIGNS, type Campaign } from '../search.ts'
import { TextSizes } from '../text-sizes.tsx'
import { type Check, checksOf } from './checks.ts'
import { launchOf, startsAtLaunch } from './launch.ts'
import { Samples } from './samples.tsx'
import type { StepProps } from './step.ts'

const TYPED_FROM = 10_000
const TEMPLATES = '/api/client/campaigns/{campaignId}/templates'

/** Shows blocking problems, warnings and the reach, and launches the campaign. */
export function ReviewStep({ campaign, autosave }: StepProps) {
  const { t } = useTranslation('campaigns')
  const [version, setVersion] = useState(() => String(Date.now()))
  const { id, type } = campaign
  const isBlast = type === 'blast'
  const mayWrite = useMay('editor')
  const now = useServerClock()
  const { list_ids: lists = [] } = autosave.draft
  const { readAgain } = autosave
  // What another member has saved since the page was opened is checked too.
  useEffect(() => void readAgain(), [readAgain])
  const unsaved = useLocalDrafts(draftsOf(useProject().id, id))
  const templates = useRead(TEMPLATES, { path: { campaignId: id } }, { staleTime: 0 })
  const lint = useRead('/api/client/campaigns/{campaignId}/lint', { path: { campaignId: id } }, { staleTime: 0 })
  const isReady = isBlast && lists.length > 0 && autosave.state === 'saved'
  const { preflight, error } = usePreflight({ campaignId: id, version, isReady })
  const failed = [templates, lint].find(({ error, data }) => error && !data)?.error ?? error
  if (failed) return <Failed error={failed} />
  if (!templates.data || !lint.data) return <Loading />
  const finished = preflight?.state === 'finished' ? preflight : undefined
  const checks = checksOf({
    now: now(),
    campaign,
    draft: autosave.draft,
    templates: templates.data.results,
    lints: lint.data.results,
    preflight: finished,
    unsaved,
  })
  return (
    <div className="stack">
      <div className="cols main-side">
        <Card title={t('review.heading')}>
          <ul className="checks">
            {checks.map((check) => (
              <CheckLine key={`${check.id} ${check.about ?? ''}`} campaignId={id} check={check} />
            ))}
          </ul>
          <Launch
            campaign={campaign}
            autosave={autosave}
            templates={templates.data.results}
            isBlocked={checks.some(({ is }) => is === 'blocking')}
            reached={finished && reachedBy(finished)}
            onChanged={() => setVersion(String(Date.now()))}
          />
        </Card>
        {isBlast && (
          <Card title={t('funnel.heading')}>
            {isReady ? <FunnelOf preflight={preflight} /> : <p className="pad sm quiet">{t('funnel.noList')}</p>}
          </Card>
        )}
      </div>
      {mayWrite && campaign.channel === 'text' && autosave.state === 'saved' && templates.data.results.length > 0 && (
        <TextSizes campaignId={id} input={{}} version={version} />
      )}
      {isReady && lists[0] !== undefined && templates.data.results.length > 0 && <Samples campaign={campaign} listId={lists[0]} />}
    </div>
  )
}

const MARKS = {
  passed: ['good', IconCheck],
  warning: ['warn', IconAlertTriangle],
  blocking: ['bad', IconX],
  error: ['bad', IconX],
} as const

function CheckLine({ campaignId, check: { id, is, about, params, place } }: { campaignId: number; check: Check }) {
  const { t } = useTranslation('campaigns')
  const to = { project: String(useProject().id), campaignId: String(campaignId) }
  const [tone, Mark] = MARKS[is]
  return (
    <li>
      <span className={`badge ${tone}`}>
        <Mark size={16} stroke={1.5} aria-hidden />
      </span>
      <div>
        <span className="vh">{t(`check.is.${is}`)}</span>
        {t(`check.${id}`, params)}
        {place ? (
          <span className="r">
            <Link to="/p/$project/campaigns/$campaignId/edit" params={to} search={{ step: 'content', ...place }}>
              {t('check.open', { place: about })}
            </Link>
          </span>
        ) : (
          about && <span className="r">{about}</span>
        )}
      </div>
    </li>
  )
}

type Templates = Reply<typeof TEMPLATES, 'get'>['results']

type LaunchProps = StepProps & {
  templates: Templates
  isBlocked: boolean
  reached: number | undefined
  /** Another member has changed the campaign, which is not launched. */
  onChanged: () => void
}

function Launch({ campaign: { id, type }, autosave, templates, isBlocked, reached, onChanged }: LaunchProps) {
  const { t, i18n } = useTranslation('campaigns')
  const [isOpen, setOpen] = useState(false)
  // Those that were checked, and not what is read while the question is open.
  const [checked, setChecked] = useState(templates)
  const [isChanged, setChanged] = useState(false)
  const { environment } = useProject()
  const mayPublish = useMay('publisher')
  const { send_at: at = null, send_in_user_timezone: isLocal } = autosave.draft
  const now = useServerClock()
  const launch = useLaunch({ id, type, templates: checked }, autosave, () => {
    setOpen(false)
    setChanged(true)
    onChanged()
  })
  if (!mayPublish) return <p className="pad sm quiet rule">{t('launch.needsPublisher')}</p>
  const open = () => {
    setChanged(false)
    setChecked(templates)
    setOpen(true)
  }
  const isBlast = type === 'blast'
  const number = new Intl.NumberFormat(i18n.language).format(reached ?? 0)
  const when =
    at === null || startsAtLaunch(autosave.draft, now())
      ? t('launch.now')
      : isLocal
        ? t('launch.local', { at: at.slice(0, 16).replace('T', ' ') })
        : instant(i18n.language, { at })
  return (
    <div className="pad rule">
      <div role="alert">{isChanged && <p className="say wait gap-below">{t('launch.changed')}</p>}</div>
      <div className="acts">
        <Button onClick={open} disabled={isBlocked || (isBlast && reached === undefined) || autosave.state !== 'saved'}>
          {t(isBlast ? 'launch.open' : 'launch.openTrigger')}
        </Button>
        <CopyAs
          label={t('launch.more')}
          request={{ method: 'PATCH', path: CAMPAIGN, params: { campaignId: id }, body: launchOf(type, autosave.draft, now()) }}
        />
        <Confirm
          isOpen={isOpen}
          onClose={() => setOpen(false)}
          title={t(isBlast ? 'launch.title' : 'launch.titleTrigger', { number })}
          action={t(isBlast ? 'launch.action' : 'launch.actionTrigger', { number })}
          isDanger={false}
          {...(reached !== undefined && reached > TYPED_FROM && { typed: String(reached) })}
          isPending={launch.isPending}
          error={launch.error}
          onConfirm={() => launch.mutate(undefined)}
        >
          <p>{isBlast ? t('launch.about', { number, when }) : t('launch.aboutTrigger')}</p>
          <p>{t(environment === 'sandbox' ? 'launch.sandbox' : 'launch.live')}</p>
        </Confirm>
      </div>
    </div>
  )
}

type Launched = Pick<Campaign, 'id' | 'type'> & { templates: Templates }

/** Launches the campaign as it was checked, and opens its page. One that another member has changed since is read again instead. */
function useLaunch({ id: campaignId, type, templates }: Launched, autosave: StepProps['autosave'], onChanged: () => void) {
  const project = String(useProject().id)
  const navigate = useNavigate()
  return useWrite(
    async (api) => {
      const version = await autosave.seenVersion()
      if (version === null) return false
      const { results } = await api.get(TEMPLATES, { path: { campaignId } })
      if (!isSame(results, templates)) return false
      const body = launchOf(type, autosave.draft, await readServerClock())
      try {
        await api.patch(CAMPAIGN, { path: { campaignId }, body, headers: ifVersion(version) })
        return true
      } catch (thrown) {
        if (!(thrown instanceof CarillonError && thrown.status === 412)) throw thrown
        await autosave.readAgain()
        return false
      }
    },
    [CAMPAIGNS],
    (isLaunched) => {
      if (!isLaunched) return onChanged()
      void navigate({ to: '/p/$project/campaigns/$campaignId', params: { project, campaignId: String(campaignId) } })
    },
  )
}
