import { Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Code } from '../../../../parts/code.tsx'
import { PreviewFrame } from '../../../../parts/preview-frame.tsx'
import { TabBar } from '../../../../parts/tabs.tsx'
import { undoable } from '../../../../parts/toast.ts'
import { BlockEditor } from '../blocks/block-editor.tsx'
import { blocksOf, mjmlOf } from '../blocks/document.ts'
import { CodeField } from '../code-field.tsx'
import { Editable } from '../editable.tsx'
import { withImages } from '../files.ts'
import { Line, without } from '../line.tsx'
import { useWords } from '../words.ts'
import type { ChannelEditor, DrawnProps, Editing, FieldsProps } from './channel.ts'

const HTML_START = `<h1>{{ user.data.first_name | default: "Hello" }}</h1>
<p>Write your message here.</p>
<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>
`
/** MJML that opens as blocks. */
const MJML_START = mjmlOf([
  { id: 1, is: 'heading', values: { text: '{{ user.data.first_name | default: "Hello" }}' } },
  { id: 2, is: 'text', values: { text: 'Write your message here.' } },
  { id: 3, is: 'footer', values: { text: 'You get this because you subscribed.', label: 'Unsubscribe' } },
])

const STARTS = { html: HTML_START, mjml: MJML_START }

const SOURCES = ['blocks', 'mjml', 'html', 'text'] as const
type Source = (typeof SOURCES)[number]

function Fields({ campaign, template, onChange, findings, isReadOnly }: FieldsProps) {
  const { t } = useTranslation('campaigns')
  const words = useWords(campaign)
  const source = typeof template.mjml === 'string' ? 'mjml' : 'html'
  const mjml = typeof template.mjml === 'string' ? template.mjml : undefined
  const [current, setTab] = useTab(source, mjml)
  const value = typeof template[current] === 'string' ? template[current] : ''
  const latest = useRef(template)
  useEffect(() => {
    latest.current = template
  })
  const startAgain = (wanted: Body) => {
    // A template has HTML or MJML. What was written before can be had back, with what is typed into other fields meanwhile.
    const { [source]: before } = template
    onChange({ ...without(template, source), [wanted]: STARTS[wanted] })
    undoable(t('editor.replaced', { source: source.toUpperCase() }), async () =>
      onChange({ ...without(latest.current, wanted), ...(before !== undefined && { [source]: before }) }),
    )
  }
  return (
    <div className="form pad">
      <Editable isReadOnly={isReadOnly}>
        <div className="form">
          <Line template={template} onChange={onChange} name="subject" max={998} isRequired />
          <Line template={template} onChange={onChange} name="preheader" max={998} about={t('template.preheaderAbout')} />
          <div className="two">
            <Line template={template} onChange={onChange} name="from" max={1000} />
            <Line template={template} onChange={onChange} name="reply_to" max={1000} />
          </div>
        </div>
      </Editable>
      <div>
        <TabBar
          isSmall
          label={t('editor.source')}
          tabs={SOURCES.map((id) => ({ id, label: t(`editor.${id}`) }))}
          current={current}
          onChange={(id) => setTab(id as Source)}
        />
        <p className="xs quiet">{t(`editor.${current}About`)}</p>
        <Editable isReadOnly={isReadOnly}>
          {current === 'blocks' && (
            <BlockEditor mjml={mjml} onChange={(mjml) => onChange({ ...template, mjml })} onStart={() => startAgain('mjml')} />
          )}
          {(current === 'html' || current === 'mjml') && current !== source && (
            <OtherBody source={source} wanted={current} onStart={() => startAgain(current)} />
          )}
          {(current === source || current === 'text') && (
            <CodeField
              key={current}
              label={t(`editor.${current}Label`)}
              value={value}
              onChange={(text) =>
                onChange(text === '' && current === 'text' ? without(template, 'text') : { ...template, [current]: text })
              }
              words={words}
              findings={findings.filter(({ param }) => param.endsWith(current))}
              isPlain={current === 'text'}
              isReadOnly={isReadOnly}
            />
          )}
        </Editable>
      </div>
    </div>
  )
}

/** What the body is written in. */
type Body = 'html' | 'mjml'

/** The tab that is open. Where the body is replaced by one of the other kind, such as by an earlier version, it follows. */
function useTab(source: Body, mjml: string | undefined) {
  const [tab, setTab] = useState<Source>(() => (mjml !== undefined && blocksOf(mjml) ? 'blocks' : source))
  const [before, setBefore] = useState(source)
  if (source !== before) {
    setBefore(source)
    if (tab === before) setTab(source)
  }
  return [tab, setTab] as const
}

/** In the place of code that the email does not have. */
function OtherBody({ source, wanted, onStart }: { source: Body; wanted: Body; onStart: () => void }) {
  const { t } = useTranslation('campaigns')
  return (
    <div className="stack">
      <p className="sm">{t('editor.otherBody', { source: source.toUpperCase() })}</p>
      <div>
        <Button variant="default" size="xs" onClick={onStart}>
          {t('editor.startAgain', { wanted: wanted.toUpperCase() })}
        </Button>
      </div>
    </div>
  )
}

function MoreFields({ template, onChange }: Editing) {
  const { t } = useTranslation('campaigns')
  return (
    <div className="two">
      <Line template={template} onChange={onChange} name="cc" max={1000} about={t('template.addresses')} />
      <Line template={template} onChange={onChange} name="bcc" max={1000} about={t('template.addresses')} />
    </div>
  )
}

function Drawn({ text, images, width, isDark, hasImages, isText, title }: DrawnProps) {
  const { t } = useTranslation('campaigns')
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
}

export const email: ChannelEditor = {
  start: { subject: '', html: HTML_START },
  Fields,
  more: { names: ['cc', 'bcc'], Fields: MoreFields },
  Drawn,
}
