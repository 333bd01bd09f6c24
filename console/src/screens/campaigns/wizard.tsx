import { Button } from '@mantine/core'
import { getRouteApi, Navigate, useNavigate } from '@tanstack/react-router'
import { type RefObject, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { type EditLock, Others, Taken, useEditLock } from '../../parts/presence.tsx'
import { SaveProblem, SaveState } from '../../parts/save-state.tsx'
import { useMay } from '../../session/project.tsx'
import { useDraft } from './draft.ts'
import { Editor } from './editor/editor.tsx'
import { CAMPAIGN, type Campaign, STEPS, type Step, type TemplateSearch } from './search.ts'
import { AboutStep } from './steps/about.tsx'
import { AudienceStep } from './steps/audience.tsx'
import { DeliveryStep } from './steps/delivery.tsx'
import { ReviewStep } from './steps/review.tsx'
import { ScheduleStep } from './steps/schedule.tsx'
import type { StepProps } from './steps/step.ts'
import { VariantsCard } from './steps/variants.tsx'
import { variantIn } from './variants.ts'

const route = getRouteApi('/member/p/$project/campaigns/$campaignId/edit')

/** The steps from a new campaign to its launch. They can be visited in any order, and are saved as they change. */
export function Wizard() {
  const { project, campaignId } = route.useParams()
  const mayWrite = useMay('editor')
  const { data, error, refetch } = useRead(CAMPAIGN, { path: { campaignId: Number(campaignId) } })
  const lock = useEditLock('campaign', Number(campaignId), { isWanted: mayWrite && data?.state === 'draft', isLocking: true })
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  if (data.state !== 'draft' || !mayWrite)
    return <Navigate to="/p/$project/campaigns/$campaignId" params={{ project, campaignId }} replace />
  return <Steps key={`${data.id} ${lock.opened}`} campaign={data} lock={lock} />
}

function Steps({ campaign, lock }: { campaign: Campaign; lock: EditLock }) {
  const { t } = useTranslation('campaigns')
  const { step = 'about' } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/campaigns/$campaignId/edit' })
  const autosave = useDraft(campaign, lock.isLocked)
  const flush = useRef<(() => Promise<unknown>) | null>(null)
  const { id, type, channel } = campaign
  const steps = STEPS.filter((name) => name !== 'schedule' || type === 'blast')
  const goTo = async (step: Step) => {
    await flush.current?.()
    if (autosave.state === 'changed') await autosave.saveNow()
    void navigate({ search: (search) => ({ ...search, step }) })
  }
  const index = steps.indexOf(step)
  const [before, after] = [steps[index - 1], steps[index + 1]]
  return (
    <>
      <PageHead
        title={autosave.draft.name || campaign.name}
        crumb={campaign.name}
        about={`${t(`type.${type}`)} · ${t(`channel.${channel}.ofCampaign`)}`}
        actions={
          <>
            <Others lock={lock} />
            <SaveState autosave={autosave} />
            <CopyAs
              label={t('wizard.more')}
              request={{ method: 'PATCH', path: CAMPAIGN, params: { campaignId: id }, body: autosave.draft }}
            />
          </>
        }
      />
      <Taken lock={lock} />
      <SaveProblem autosave={autosave} />
      <nav className="wizard" aria-label={t('wizard.steps')}>
        <ol>
          {steps.map((name, number) => (
            <li key={name}>
              <button type="button" aria-current={name === step ? 'step' : undefined} onClick={() => void goTo(name)}>
                <span aria-hidden>{number + 1}</span>
                {t(`step.${name}`)}
              </button>
            </li>
          ))}
        </ol>
      </nav>
      <fieldset className="bare" disabled={lock.isLocked && step !== 'content'}>
        <StepOf step={step} campaign={campaign} autosave={autosave} isLocked={lock.isLocked} flush={flush} />
      </fieldset>
      <div className="acts wizardfoot">
        {before && (
          <Button variant="default" onClick={() => void goTo(before)}>
            {t('wizard.back', { step: t(`step.${before}`) })}
          </Button>
        )}
        {after && <Button onClick={() => void goTo(after)}>{t('wizard.next', { step: t(`step.${after}`) })}</Button>}
      </div>
    </>
  )
}

/** The template that is open. A variant that was removed is not. */
function placeIn({ variants }: Campaign, { locale, variant: wanted }: TemplateSearch): TemplateSearch {
  const variant = variantIn(variants, wanted)
  return { ...(locale !== undefined && { locale }), ...(variant !== undefined && { variant }) }
}

type OfProps = StepProps & { step: Step; isLocked: boolean; flush: RefObject<(() => Promise<unknown>) | null> }

function StepOf({ step, campaign, autosave, isLocked, flush }: OfProps) {
  const { t } = useTranslation('campaigns')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/campaigns/$campaignId/edit' })
  switch (step) {
    case 'content':
      return (
        <div className="stack">
          {campaign.type === 'blast' && (
            <fieldset className="bare" disabled={isLocked}>
              <VariantsCard campaign={campaign} autosave={autosave} />
            </fieldset>
          )}
          <Editor
            campaign={campaign}
            place={placeIn(campaign, search)}
            onPlace={(place) => void navigate({ search: ({ step }) => ({ ...(step && { step }), ...place }) })}
            isLocked={isLocked}
            flush={flush}
          />
        </div>
      )
    case 'delivery':
      return (
        <Card title={t('step.delivery')}>
          <DeliveryStep campaign={campaign} autosave={autosave} />
        </Card>
      )
    case 'about':
      return (
        <Card title={t('step.about')}>
          <AboutStep campaign={campaign} autosave={autosave} />
        </Card>
      )
    case 'audience':
      return <AudienceStep campaign={campaign} autosave={autosave} />
    case 'schedule':
      return (
        <Card title={t('step.schedule')}>
          <ScheduleStep campaign={campaign} autosave={autosave} />
        </Card>
      )
    case 'review':
      return <ReviewStep campaign={campaign} autosave={autosave} />
    default:
      return step satisfies never
  }
}
