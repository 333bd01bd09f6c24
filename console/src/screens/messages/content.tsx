import type { components } from '@carillon/sdk'
import { useTranslation } from 'react-i18next'
import { Code } from '../../parts/code.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PreviewFrame } from '../../parts/preview-frame.tsx'

type Message = components['schemas']['MessageWhole']

const LINES = ['from', 'to', 'reply_to', 'cc', 'bcc', 'subject', 'preheader', 'title', 'url', 'action_url', 'topic'] as const
const PREVIEW_WIDTH = 340

/** The content of the message, as it was rendered. */
export function Content({ message: { content, channel } }: { message: Message }) {
  const { t } = useTranslation('messages')
  if (content === null) return <Empty>{t('content.none')}</Empty>
  if (channel === 'webhook')
    return (
      <div className="pad">
        <Code text={JSON.stringify(content, null, 2)} />
      </div>
    )
  const members = content as Record<string, unknown>
  const text = (name: string) => (typeof members[name] === 'string' ? (members[name] as string) : '')
  const body = text('body') || text('text')
  return (
    <div className="pad stack">
      <dl className="kv">
        {LINES.filter((name) => text(name) !== '').map((name) => (
          <div key={name}>
            <dt>{t(`content.${name}`)}</dt>
            <dd dir="auto">{text(name)}</dd>
          </div>
        ))}
      </dl>
      {text('html') ? (
        <PreviewFrame html={text('html')} title={t('content.preview')} width={PREVIEW_WIDTH} />
      ) : (
        <p className="said" dir="auto">
          {body}
        </p>
      )}
      <p className="quiet xs">{t('content.about')}</p>
    </div>
  )
}
