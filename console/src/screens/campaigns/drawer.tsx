import type { components } from '@carillon/sdk'
import { type Icon, IconCheck, IconClock, IconQuestionMark, IconX } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { isAgreed } from '../../parts/consent.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { Drawer } from '../../parts/drawer.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Sentence } from '../../parts/sentence.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { Time } from '../../parts/time.tsx'
import { useProject } from '../../session/project.tsx'
import { Drawn } from './editor/drawn.tsx'
import { usePreview } from './editor/use-preview.ts'
import type { Campaign } from './search.ts'
import { type Letter, variantOf } from './variants.ts'

const EXPLAIN = '/api/client/campaigns/{campaignId}/recipients/{userId}/explain'

type Explained = components['schemas']['CampaignRecipientExplainReply']
type Gate = { id: string; title: string; about?: string; is: 'passed' | 'failed' | 'open' }

/** Why a user gets the campaign or does not, and the message as the user gets it. It is shown beside the recipients. */
export function RecipientDrawer({ campaign, userId }: { campaign: Campaign; userId: string }) {
  const { t } = useTranslation('campaigns')
  const project = useProject()
  const navigate = useNavigate({ from: '/p/$project/campaigns/$campaignId' })
  const [view, setView] = useState('why')
  const path = { campaignId: campaign.id, userId }
  const { data, error, refetch } = useRead(EXPLAIN, { path })
  return (
    <Drawer
      label={t('drawer.label', { user: userId })}
      heading={userId}
      isRead
      state={
        <Link className="sm" to="/p/$project/users/$userId" params={{ project: String(project.id), userId }}>
          {t('drawer.openUser')}
        </Link>
      }
      actions={<CopyAs label={t('drawer.more')} request={{ method: 'GET', path: EXPLAIN, params: path }} />}
      onClose={() => void navigate({ search: ({ user: _, ...search }) => search, replace: true, resetScroll: false })}
    >
      <div className="pad tight">
        <TabBar
          isSmall
          label={t('drawer.views')}
          tabs={['why', 'message'].map((id) => ({ id, label: t(`drawer.${id}`) }))}
          current={view}
          onChange={setView}
        />
      </div>
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Loading />}
      {data &&
        (view === 'why' ? (
          <Why campaign={campaign} explained={data} />
        ) : (
          <Copy campaign={campaign} userId={userId} variant={variantOf(data)} />
        ))}
    </Drawer>
  )
}

const MARKS: Record<Gate['is'], [string, Icon]> = { passed: ['', IconCheck], failed: ['bad', IconX], open: ['none', IconQuestionMark] }

function Why({ campaign, explained }: { campaign: Campaign; explained: Explained }) {
  const { t } = useTranslation('campaigns')
  const gates = useGates(campaign, explained)
  return (
    <>
      <ol className="gates">
        {gates.map(({ id, title, about, is }) => {
          const [tone, Mark] = MARKS[is]
          return (
            <li key={id}>
              <span className={`mk ${tone}`}>
                <Mark size={12} stroke={2} aria-hidden />
              </span>
              <span className="vh">{t(`gate.${is}`)}</span>
              {title}
              {about && <small>{about}</small>}
            </li>
          )
        })}
        {explained.messages.map(({ id, state, reason, detail, due_at, settled_at }) => (
          <li key={id}>
            <span className="mk info">
              <IconClock size={12} stroke={2} aria-hidden />
            </span>
            <Chip state={state} reason={reason} /> <Time at={settled_at ?? due_at} />
            {detail && <small>{detail}</small>}
          </li>
        ))}
      </ol>
      <div className="pad">
        <p className="say">
          <Sentence text={explained.summary} />
        </p>
      </div>
    </>
  )
}

/** The conditions in the order in which they are checked, with what was found. */
function useGates({ type }: Campaign, explained: Explained): Gate[] {
  const { t } = useTranslation('campaigns')
  const { lists, exclusion_lists: exclusions, consent, suppression, now } = explained
  const isIn = lists.filter(({ member }) => member)
  const excluding = exclusions.filter(({ member }) => member)
  const agrees = consent !== null && isAgreed(consent)
  const isUnconfirmed = consent !== null && !agrees && consent.state > 0
  const names = (all: { name: string }[]) => all.map(({ name }) => name).join(', ')
  return [
    ...(type === 'blast'
      ? [
          {
            id: 'lists',
            title: isIn.length > 0 ? t('gate.inList', { lists: names(isIn) }) : t('gate.inNoList', { lists: names(lists) }),
            is: isIn.length > 0 ? ('passed' as const) : ('failed' as const),
          },
        ]
      : []),
    ...(exclusions.length > 0
      ? [
          {
            id: 'exclusions',
            title:
              excluding.length > 0 ? t('gate.excluded', { lists: names(excluding) }) : t('gate.notExcluded', { lists: names(exclusions) }),
            is: excluding.length > 0 ? ('failed' as const) : ('passed' as const),
          },
        ]
      : []),
    {
      id: 'consent',
      title: t(
        consent?.is_transactional
          ? 'gate.transactional'
          : agrees
            ? 'gate.subscribed'
            : isUnconfirmed
              ? 'gate.notConfirmed'
              : 'gate.notSubscribed',
      ),
      ...(consent && consent.consent_id !== null && { about: t('gate.consent', { id: consent.consent_id }) }),
      is: agrees ? 'passed' : 'failed',
    },
    {
      id: 'suppression',
      title: suppression === null ? t('gate.notSuppressed') : t('gate.suppressed', { reason: suppression }),
      is: suppression === null ? 'passed' : 'failed',
    },
    {
      id: 'now',
      title: now.reason === null ? t('gate.wouldGet') : t('gate.wouldNot', { reason: now.reason }),
      is: now.reason === null ? 'passed' : 'failed',
    },
  ]
}

/** The message with the values of the user, in their variant. */
function Copy({ campaign, userId, variant }: { campaign: Campaign; userId: string; variant: Letter | undefined }) {
  const { t } = useTranslation('campaigns')
  const { data, error } = usePreview(campaign.id, { user: userId, ...(variant && { variant }) })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  return (
    <>
      <p className="pad tight xs quiet">{t('drawer.renderedNow')}</p>
      <Drawn channel={campaign.channel} preview={data} width={320} />
    </>
  )
}
