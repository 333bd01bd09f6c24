import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { TabBar } from '../../../../parts/tabs.tsx'
import { DEVICES, type Device, PUSH_BYTES_MAX, shownOn } from '../devices.ts'
import { Editable } from '../editable.tsx'
import { Line, ObjectField } from '../line.tsx'
import { NoteText } from '../note-text.tsx'
import type { ChannelEditor, DrawnProps, Editing, FieldsProps } from './channel.ts'

function Fields({ template, onChange, isReadOnly }: FieldsProps) {
  const { t } = useTranslation('campaigns')
  return (
    <Editable isReadOnly={isReadOnly}>
      <div className="form pad">
        <Line template={template} onChange={onChange} name="title" max={255} isRequired />
        <Line template={template} onChange={onChange} name="body" max={4000} isRequired isLong about={t('template.liquid')} />
        <Line template={template} onChange={onChange} name="url" max={2048} />
        <Line template={template} onChange={onChange} name="topic" max={255} />
      </div>
    </Editable>
  )
}

const MoreFields = (props: Editing) => <ObjectField {...props} name="custom" />

/** As devices show it before it is opened, with its size. */
function Drawn({ text, preview: { size_bytes: bytes } }: DrawnProps) {
  const { t, i18n } = useTranslation('campaigns')
  const [device, setDevice] = useState<Device>('ios')
  const shown = shownOn(device, { title: text('title'), body: text('body') })
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

export const push: ChannelEditor = { start: { title: '', body: '' }, Fields, more: { names: ['custom'], Fields: MoreFields }, Drawn }
