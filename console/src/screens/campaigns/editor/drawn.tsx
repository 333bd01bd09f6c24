import { useTranslation } from 'react-i18next'
import { Code } from '../../../parts/code.tsx'
import { PreviewFrame } from '../../../parts/preview-frame.tsx'
import type { Campaign } from '../search.ts'
import { isJson } from './devices.ts'
import { InAppNote, PushNote, TextNote } from './note.tsx'
import type { Preview } from './use-preview.ts'

type Props = {
  channel: Campaign['channel']
  preview: Preview
  width: number
  isDark?: boolean
  hasImages?: boolean
  isText?: boolean
  /** What the frame of an email is called, where there are several. */
  title?: string
}

/** A rendered message as its recipient sees it. */
export function Drawn({ channel, preview, width, isDark = false, hasImages = true, isText = false, title }: Props) {
  const { t } = useTranslation('campaigns')
  const content = preview.content as Record<string, unknown> | null
  if (content === null) return <p className="pad sm quiet">{t('preview.none')}</p>
  const text = (name: string) => (typeof content[name] === 'string' ? content[name] : '')
  switch (channel) {
    case 'email':
      return (
        <>
          <div className="envelope" dir="auto">
            <b>{text('subject')}</b>
            <span className="r">
              {text('from')}
              {text('preheader') && ` · ${text('preheader')}`}
            </span>
          </div>
          <div className="paper">
            {isText ? (
              <Code text={text('text')} />
            ) : (
              <PreviewFrame html={text('html')} title={title ?? t('preview.title')} width={width} isDark={isDark} hasImages={hasImages} />
            )}
          </div>
        </>
      )
    case 'webhook':
      return <Request content={content} />
    case 'push':
      return <PushNote title={text('title')} body={text('body')} bytes={preview.size_bytes} />
    case 'in_app':
      return <InAppNote title={text('title')} body={text('body')} kind={text('type')} hasAction={text('action_url') !== ''} />
    case 'text':
      return <TextNote body={text('body')} />
    default:
      return channel satisfies never
  }
}

/** The request as it is sent, and whether its body is JSON. */
function Request({ content }: { content: Record<string, unknown> }) {
  const { t } = useTranslation('campaigns')
  const json = typeof content.body === 'string' ? isJson(content.body) : undefined
  return (
    <>
      {json !== undefined && (
        <output className={`pad sm ${json ? 'quiet' : 'say bad'}`}>{t(json ? 'preview.isJson' : 'preview.notJson')}</output>
      )}
      <Code text={requestOf(content)} />
    </>
  )
}

function requestOf({ method, endpoint, headers, body }: Record<string, unknown>): string {
  const lines = Object.entries((headers as Record<string, string> | undefined) ?? {}).map(([name, value]) => `${name}: ${value}`)
  return [`${method ?? 'POST'} ${endpoint ?? ''}`, ...lines, '', typeof body === 'string' ? body : JSON.stringify(body, null, 2)].join('\n')
}
