import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { PreviewFrame } from '../../../parts/preview-frame.tsx'
import { TabBar } from '../../../parts/tabs.tsx'
import { DEVICES, type Device, PUSH_BYTES_MAX, shownOn } from './devices.ts'

type Note = { title: string; body: string }

/** A push message as devices show it before it is opened, with its size. */
export function PushNote({ title, body, bytes }: Note & { bytes: number }) {
  const { t, i18n } = useTranslation('campaigns')
  const [device, setDevice] = useState<Device>('ios')
  const shown = shownOn(device, { title, body })
  const number = new Intl.NumberFormat(i18n.language)
  return (
    <>
      <div className="pad tight">
        <TabBar
          isSmall
          label={t('preview.device')}
          tabs={DEVICES.map((id) => ({ id, label: t(`preview.devices.${id}`) }))}
          current={device}
          onChange={(id) => setDevice(id as Device)}
        />
        <output className={`sm ${bytes > PUSH_BYTES_MAX ? 'say bad' : 'quiet'}`}>
          {t('preview.payload', { size: number.format(bytes), max: number.format(PUSH_BYTES_MAX) })}
          {shown.isCut && ` ${t('preview.cut')}`}
        </output>
      </div>
      <div className="paper">
        <div className={device === 'web' ? 'desktop' : 'phone'}>
          <NoteText title={shown.title} body={shown.body} />
        </div>
      </div>
    </>
  )
}

/** A text on a telephone. */
export const TextNote = ({ body }: { body: string }) => (
  <div className="paper">
    <div className="phone">
      <NoteText title="" body={body} />
    </div>
  </div>
)

type InApp = Note & { html: string; image: string; kind: string; hasAction: boolean }

const FRAME_HEIGHT_MIN = 40

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** An in-app message as its kind shows it over an app. */
export function InAppNote({ title, body, html, image, kind, hasAction }: InApp) {
  const { t } = useTranslation('campaigns')
  // Pictures and HTML of others are shown only in the frame of another origin.
  const framed = (image && `<img src="${escaped(image)}" alt="" style="max-width:100%">`) + html
  return (
    <div className="paper">
      <div className="phone app" data-kind={kind}>
        <NoteText title={title} body={html === '' ? body : ''}>
          {framed !== '' && <PreviewFrame html={framed} title={t('preview.inApp')} heightMin={FRAME_HEIGHT_MIN} />}
          {hasAction && <p className="xs">{t('preview.opens')}</p>}
        </NoteText>
      </div>
    </div>
  )
}

const NoteText = ({ title, body, children }: Note & { children?: ReactNode }) => (
  <div className="note" dir="auto">
    {title && (
      <p>
        <b>{title}</b>
      </p>
    )}
    {body && <p>{body}</p>}
    {children}
  </div>
)
