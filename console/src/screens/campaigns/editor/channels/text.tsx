import { useTranslation } from 'react-i18next'
import { Editable } from '../editable.tsx'
import { Line } from '../line.tsx'
import { NoteText } from '../note-text.tsx'
import type { ChannelEditor, DrawnProps, FieldsProps } from './channel.ts'

const BODY_MAX = 10_000

function Fields({ template, onChange, segments, isReadOnly }: FieldsProps) {
  const { t } = useTranslation('campaigns')
  return (
    <Editable isReadOnly={isReadOnly}>
      <div className="form pad">
        <Line template={template} onChange={onChange} name="body" max={BODY_MAX} isRequired isLong about={t('template.liquid')} />
        {segments && (
          <output className="sm quiet">
            {t('template.segments', { count: segments.segments, characters: segments.characters, encoding: segments.encoding })}
            {segments.non_gsm.length > 0 && ` ${t('template.nonGsm', { characters: segments.non_gsm.join(' ') })}`}
          </output>
        )}
      </div>
    </Editable>
  )
}

/** On a telephone. */
const Drawn = ({ text }: DrawnProps) => (
  <div className="paper">
    <div className="phone">
      <NoteText title="" body={text('body')} />
    </div>
  </div>
)

export const text: ChannelEditor = { start: { body: '' }, Fields, more: null, Drawn }
