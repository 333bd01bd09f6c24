import { useTranslation } from 'react-i18next'
import { Code } from '../../../parts/code.tsx'
import { PreviewFrame } from '../../../parts/preview-frame.tsx'
import type { Campaign } from '../search.ts'
import { isJson } from './devices.ts'
import { withImages } from './files.ts'
import { InAppNote, PushNote, TextNote } from './note.tsx'
import type { Preview } from './use-preview.ts'

type Props = {
  channel: Campaign['channel']
  preview: Preview
  /** The images of an email by their ids. */
  images?: ReadonlyMap<string, string>
  width: number
  isDark?: boolean
  hasImages?: boolean
  isText?: boolean
  /** What the frame of an email is called, where there are several. */
  title?: string
}

const NO_IMAGES: ReadonlyMap<string, string> = new Map()

/** A rendered message as its recipient sees it. */
export function Drawn({ channel, preview, images = NO_IMAGES, width, isDark = false, hasImages = true, isText = false, title }: Props) {
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
              <PreviewFrame
                html={withImages(text('html'), images)}
                title={title ?? t('preview.title')}
                width={width}
                isDark={isDark}
                hasImages={hasImages}
              />
            )}
          </div>
        </>
      )
    case 'webhook':
      return <Request content={content} />
    case 'push':
      return <PushNote title={text('title')} body={text('body')} bytes={preview.size_bytes} />
    case 'in_app':
      return (
        <InAppNote
          title={text('title')}
          body={text('body')}
          html={text('html')}
          image={text('image')}
          kind={text('type')}
          hasAction={text('action_url') !== ''}
        />
      )
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
