import { Select } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { PreviewFrame } from '../../../../parts/preview-frame.tsx'
import { CodeField } from '../code-field.tsx'
import { Editable } from '../editable.tsx'
import { Line, without } from '../line.tsx'
import { NoteText } from '../note-text.tsx'
import { useWords } from '../words.ts'
import type { ChannelEditor, DrawnProps, Editing, FieldsProps } from './channel.ts'

const IN_APP_TYPES = ['inbox', 'banner', 'modal'] as const
const BODY_MAX = 10_000

function Fields({ campaign, template, onChange, findings, isReadOnly }: FieldsProps) {
  const { t } = useTranslation('campaigns')
  const words = useWords(campaign)
  return (
    <Editable isReadOnly={isReadOnly}>
      <div className="form pad">
        <Select
          label={t('template.type')}
          data={IN_APP_TYPES.map((value) => ({ value, label: t(`template.inApp.${value}`) }))}
          value={typeof template.type === 'string' ? template.type : 'inbox'}
          allowDeselect={false}
          onChange={(type) => onChange({ ...template, type })}
        />
        <Line template={template} onChange={onChange} name="title" max={255} isRequired />
        <Line template={template} onChange={onChange} name="body" max={BODY_MAX} isRequired isLong about={t('template.liquid')} />
        <Line template={template} onChange={onChange} name="action_url" max={2048} />
        <Line template={template} onChange={onChange} name="image" max={2048} />
        <div>
          <p className="sm">{t('template.html')}</p>
          <p className="xs quiet">{t('template.htmlAbout')}</p>
          <CodeField
            label={t('template.html')}
            value={typeof template.html === 'string' ? template.html : ''}
            onChange={(html) => onChange(html === '' ? without(template, 'html') : { ...template, html })}
            words={words}
            findings={findings.filter(({ param }) => param.endsWith('html'))}
            isPlain={false}
            isReadOnly={isReadOnly}
          />
        </div>
      </div>
    </Editable>
  )
}

function MoreFields(props: Editing) {
  const { t } = useTranslation('campaigns')
  return <Line {...props} name="expires_at" max={255} about={t('template.expiresAbout')} />
}

const FRAME_HEIGHT_MIN = 40

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/** As its kind shows it over an app. */
function Drawn({ text }: DrawnProps) {
  const { t } = useTranslation('campaigns')
  const html = text('html')
  const image = text('image')
  // Pictures and HTML of others are shown only in the frame of another origin.
  const framed = (image && `<img src="${escaped(image)}" alt="" style="max-width:100%">`) + html
  return (
    <div className="paper">
      <div className="phone app" data-kind={text('type')}>
        <NoteText title={text('title')} body={html === '' ? text('body') : ''}>
          {framed !== '' && <PreviewFrame html={framed} title={t('preview.inApp')} heightMin={FRAME_HEIGHT_MIN} />}
          {text('action_url') !== '' && <p className="xs">{t('preview.opens')}</p>}
        </NoteText>
      </div>
    </div>
  )
}

export const inApp: ChannelEditor = {
  start: { type: 'inbox', title: '', body: '' },
  Fields,
  more: { names: ['expires_at'], Fields: MoreFields },
  Drawn,
}
