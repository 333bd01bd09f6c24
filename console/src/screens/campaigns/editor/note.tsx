import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
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

/** An in-app message as its kind shows it over an app. */
export function InAppNote({ title, body, kind, hasAction }: Note & { kind: string; hasAction: boolean }) {
  const { t } = useTranslation('campaigns')
  return (
    <div className="paper">
      <div className="phone app" data-kind={kind}>
        <NoteText title={title} body={body}>
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
    <p>{body}</p>
    {children}
  </div>
)
