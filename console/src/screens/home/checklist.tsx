import type { CarillonError } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { AddSampleUsers } from '../../parts/add-sample-users.tsx'
import { CHANNELS } from '../../parts/channels.ts'
import { CodeTabs } from '../../parts/code.tsx'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { type ShownRequest, samplesOf } from '../../parts/request-code.ts'
import { useMay, useProject } from '../../session/project.tsx'
import { readAgain } from './read-again.ts'

type Step = { id: 'user' | 'event' | 'campaign' | 'message' | 'domain' | 'live'; isDone: boolean; request: ShownRequest }

/** The first item is enough to know that there is one. */
const ONE = { query: { limit: 1 } }
const PAGE = { query: { limit: 100 } }
/** Events that Carillon writes itself do not show that the product sends any. */
const SYSTEM_EVENT = /^(?:user_(?:created|updated)|(?:un)?subscribed|list_(?:entered|left))$/
const isSystemEvent = (name: string) => SYSTEM_EVENT.test(name) || CHANNELS.some((channel) => name.startsWith(`${channel}_`))
const READ_AGAIN = readAgain(5000)

/** A subscription type that the samples can name, of email if there is one. Ids are of the whole server: a project has others than the first. */
function useSubscriptionId(): number {
  const types = useRead('/api/client/subscriptions', PAGE).data?.results ?? []
  return (types.find(({ channel }) => channel === 'email') ?? types[0])?.id ?? 1
}

/** The six steps, by what the server has, or the reads of it that have failed. */
function useSteps(): { steps?: Step[]; failed: UseQueryResult<unknown, CarillonError>[] } {
  const { environment } = useProject()
  const users = useRead('/api/client/users', ONE, READ_AGAIN)
  const events = useRead('/api/client/schema/events', PAGE, READ_AGAIN)
  const campaigns = useRead('/api/client/campaigns', ONE, READ_AGAIN)
  const messages = useRead('/api/client/messages', ONE, READ_AGAIN)
  const domains = useRead('/api/client/domains', PAGE, READ_AGAIN)
  const subscription_id = useSubscriptionId()
  const failed = [users, events, campaigns, messages, domains].filter(({ data, error }) => error && !data)
  if (!users.data || !events.data || !campaigns.data || !messages.data || !domains.data) return { failed }
  const steps: Step[] = [
    {
      id: 'user',
      isDone: users.data.results.length > 0,
      request: {
        method: 'PATCH',
        path: '/api/client/users',
        body: [{ external_id: 'customer-1042', email: 'kim@example.com', data: { first_name: 'Kim' } }],
      },
    },
    {
      id: 'event',
      isDone: events.data.results.some(({ name }) => !isSystemEvent(name)),
      request: {
        method: 'POST',
        path: '/api/client/events',
        body: [{ external_id: 'customer-1042', name: 'order_placed', data: { total: 64 } }],
      },
    },
    {
      id: 'campaign',
      isDone: campaigns.data.results.length > 0,
      request: {
        method: 'POST',
        path: '/api/client/campaigns',
        body: { type: 'trigger', name: 'Order received', subscription_id, event_name: 'order_placed' },
      },
    },
    {
      id: 'message',
      isDone: messages.data.results.length > 0,
      request: {
        method: 'POST',
        path: '/api/client/messages',
        body: {
          user: { external_id: 'customer-1042' },
          subscription_id,
          content: { subject: 'Hello', html: '<p>Hello {{ user.data.first_name }}</p>' },
        },
      },
    },
    {
      id: 'domain',
      isDone: domains.data.results.some(({ is_verified, sending }) => is_verified || sending?.is_verified === true),
      request: { method: 'POST', path: '/api/client/domains', body: { host: 'links.example.com', sending_domain: 'example.com' } },
    },
    { id: 'live', isDone: environment === 'live', request: { method: 'GET', path: '/api/client/providers/meta' } },
  ]
  return { steps, failed }
}

/** What is left to set up, with the state of each step and the ways to do the next one. Shows nothing once everything is done. */
export function Checklist() {
  const { t } = useTranslation('home')
  const { steps, failed } = useSteps()
  const again = () => {
    for (const { refetch } of failed) void refetch()
  }
  if (!steps) return failed.length > 0 ? <Failed error={failed[0]?.error} onRetry={again} /> : <Loading />
  const done = steps.filter(({ isDone }) => isDone).length
  const next = steps.find(({ isDone }) => !isDone)
  if (!next) return null
  return (
    <Card
      title={t('setup.heading')}
      aside={t('setup.done', { done, all: steps.length })}
      actions={
        <span className="meter" aria-hidden>
          {steps.map((step) => (
            <i key={step.id} className={step.isDone ? undefined : step === next ? 'c' : 'o'} />
          ))}
        </span>
      }
    >
      <ol className="steps">
        {steps.map((step, index) => (
          <StepLine key={step.id} step={step} number={index + 1} isNext={step === next} />
        ))}
      </ol>
    </Card>
  )
}

function StepLine({ step, number, isNext }: { step: Step; number: number; isNext: boolean }) {
  const { t } = useTranslation('home')
  const { id, isDone, request } = step
  const isAdmin = useMay('admin')
  const about = id === 'live' && isAdmin ? t('setup.live.aboutAdmin') : t(`setup.${id}.about`)
  return (
    <li className={isDone ? 'done' : isNext ? 'now' : undefined} aria-current={isNext ? 'step' : undefined}>
      <span className="no">{isDone ? <IconCheck size={14} stroke={1.75} aria-hidden /> : number}</span>
      <div>{isNext ? <h3>{t(`setup.${id}.title`)}</h3> : t(`setup.${id}.title`)}</div>
      {isNext ? <Action id={id} /> : <span className="quiet">{isDone ? t('setup.isDone') : about}</span>}
      {isNext && (
        <div className="how">
          <p className="quiet">{t(`setup.${id}.how`)}</p>
          <CodeTabs samples={samplesOf(request, location.origin)} />
        </div>
      )}
    </li>
  )
}

function Action({ id }: { id: Step['id'] }) {
  const { t } = useTranslation('home')
  const project = useProject()
  const navigate = useNavigate()
  const mayWrite = useMay('editor')
  if (id === 'user' && mayWrite) return <AddSampleUsers size="xs" />
  if (id === 'message')
    return (
      <Button size="xs" variant="default" onClick={() => void navigate({ to: `/p/${project.id}/sandbox` })}>
        {t('setup.message.action')}
      </Button>
    )
  return null
}
