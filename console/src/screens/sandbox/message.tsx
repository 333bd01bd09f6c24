import type { components } from '@carillon/sdk'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Code } from '../../parts/code.tsx'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { ObjectName } from '../../parts/object-name.tsx'
import { Card } from '../../parts/page.tsx'
import { PreviewFrame } from '../../parts/preview-frame.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { useProject } from '../../session/project.tsx'
import { type Check, Links, Problems } from './check.tsx'
import { MessageActions } from './message-actions.tsx'
import { Phone } from './phone.tsx'
import type { Tab } from './search.ts'

type Message = components['schemas']['SandboxMessageReply']
/** The members of the content of all channels, as text. */
type Content = Record<string, unknown>

const PATH = '/api/client/sandbox/messages/{messageId}'
const textOf = (content: Content, name: string): string => (typeof content[name] === 'string' ? content[name] : '')

/** A captured message as its recipient sees it, and as it was sent. */
export function CapturedMessage({ id, tab }: { id: number; tab: Tab }) {
  const { t } = useTranslation('sandbox')
  const {
    data: message,
    error,
    refetch,
  } = useRead(PATH, { path: { messageId: id } }, { keepsPrevious: true, staleTime: Number.POSITIVE_INFINITY })
  const { data: check } = useRead(
    `${PATH}/check`,
    { path: { messageId: id } },
    { keepsPrevious: true, staleTime: Number.POSITIVE_INFINITY },
  )
  const navigate = useNavigate({ from: '/p/$project/sandbox' })
  if (error && !message) return <Failed error={error} onRetry={() => void refetch()} />
  if (!message) return <Loading />
  const content = message.content as Content
  const tabs = tabsOf(message, content, check)
  const current = tabs.includes(tab) ? tab : 'preview'
  return (
    <Card
      className="mail"
      title={textOf(content, 'subject') || textOf(content, 'title') || message.summary}
      actions={<MessageActions key={message.id} message={message} />}
    >
      <Head message={message} content={content} />
      <TabBar
        label={t('views')}
        tabs={tabs.map((id) => ({ id, label: <TabLabel id={id} check={check} /> }))}
        current={current}
        onChange={(tab) => void navigate({ search: (search) => ({ ...search, tab: tab as Tab }), replace: true })}
      />
      <View message={message} content={content} check={check} tab={current} />
    </Card>
  )
}

function tabsOf({ headers, source }: Message, content: Content, check: Check | undefined): Tab[] {
  return [
    'preview',
    ...(textOf(content, 'text') ? (['text'] as const) : []),
    ...(textOf(content, 'html') ? (['html'] as const) : []),
    ...(check ? (['problems'] as const) : []),
    ...(check && textOf(content, 'html') ? (['links'] as const) : []),
    ...(headers && Object.keys(headers).length > 0 ? (['headers'] as const) : []),
    ...(source ? (['source'] as const) : []),
  ]
}

/** The name of a view, with how many there are to look at. */
function TabLabel({ id, check }: { id: Tab; check: Check | undefined }) {
  const { t } = useTranslation('sandbox')
  const count = id === 'problems' ? check?.findings.length : id === 'links' ? check?.links.length : undefined
  return (
    <>
      {t(`tab.${id}`)}
      {count !== undefined && count > 0 && <span className="r"> {count}</span>}
    </>
  )
}

function Head({ message, content }: { message: Message; content: Content }) {
  const { t } = useTranslation('sandbox')
  const project = String(useProject().id)
  const lines = (['from', 'to', 'reply_to', 'cc', 'bcc', 'preheader'] as const).filter((name) => textOf(content, name) !== '')
  return (
    <dl className="kv pad">
      {lines.map((name) => (
        <Line key={name} name={t(`head.${name}`)} value={textOf(content, name)} />
      ))}
      {lines.length === 0 && <Line name={t('head.to')} value={message.recipient} />}
      {message.external_id !== null && (
        <Line
          name={t('head.user')}
          value={
            <Link to="/p/$project/users/$userId" params={{ project, userId: message.external_id }}>
              {message.external_id}
            </Link>
          }
        />
      )}
      {message.campaign_id !== null && <Line name={t('head.because')} value={<ObjectName kind="campaign" id={message.campaign_id} />} />}
    </dl>
  )
}

const Line = ({ name, value }: { name: string; value: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd dir="auto">{value}</dd>
  </>
)

type ViewProps = { message: Message; content: Content; check: Check | undefined; tab: Tab }

function View({ message, content, check, tab }: ViewProps) {
  switch (tab) {
    case 'text':
      return <Code text={textOf(content, 'text')} />
    case 'html':
      return <Code text={textOf(content, 'html')} />
    case 'problems':
      return check ? <Problems check={check} /> : null
    case 'links':
      return check ? <Links check={check} /> : null
    case 'headers':
      return (
        <Code
          text={Object.entries(message.headers ?? {})
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        />
      )
    case 'source':
      return <Code text={message.source ?? ''} />
    case 'preview':
      return textOf(content, 'html') ? <EmailView html={textOf(content, 'html')} /> : <Phone message={message} content={content} />
    default:
      return tab satisfies never
  }
}

const WIDTHS = ['600', '320'] as const

/** An email across widths, in the dark and without pictures. */
function EmailView({ html }: { html: string }) {
  const { t } = useTranslation('sandbox')
  const [width, setWidth] = useState<string>('600')
  const [options, setOptions] = useState({ isDark: false, hasImages: true })
  return (
    <div className="paper">
      <div className="acts">
        <TabBar isSmall label={t('width')} tabs={WIDTHS.map((id) => ({ id, label: id }))} current={width} onChange={setWidth} />
        <div className="seg">
          <button type="button" aria-pressed={options.isDark} onClick={() => setOptions({ ...options, isDark: !options.isDark })}>
            {t('dark')}
          </button>
          <button type="button" aria-pressed={!options.hasImages} onClick={() => setOptions({ ...options, hasImages: !options.hasImages })}>
            {t('noPictures')}
          </button>
        </div>
      </div>
      <PreviewFrame html={html} title={t('previewTitle')} width={Number(width)} {...options} />
    </div>
  )
}
