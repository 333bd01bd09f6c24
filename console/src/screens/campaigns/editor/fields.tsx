import { Select } from '@mantine/core'
import { type ReactNode, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { lazyPart } from '../../../parts/lazy-part.ts'
import { Loading } from '../../../parts/loading.tsx'
import { TabBar } from '../../../parts/tabs.tsx'
import { undoable } from '../../../parts/toast.ts'
import type { Campaign } from '../search.ts'
import { BlockEditor } from './blocks/block-editor.tsx'
import { blocksOf } from './blocks/document.ts'
import { Line, ObjectField, without } from './line.tsx'
import { MoreFields } from './more-fields.tsx'
import { HTML_START, MJML_START, type Template } from './template.ts'
import type { Preview } from './use-preview.ts'
import { useWords } from './words.ts'

const CodeEditor = lazyPart(() => import('./code-editor.tsx'), 'CodeEditor')

type Props = {
  campaign: Campaign
  template: Template
  onChange: (template: Template) => void
  findings: Preview['findings']
  segments: Preview['segments']
  isReadOnly: boolean
}

/** The fields of a template, by its channel. */
export const Fields = (props: Props) => (
  <>
    <ChannelFields {...props} />
    <div className="form pad">
      <MoreFields campaign={props.campaign} template={props.template} onChange={props.onChange} />
    </div>
  </>
)

function ChannelFields(props: Props) {
  switch (props.campaign.channel) {
    case 'email':
      return <EmailFields {...props} />
    case 'text':
      return <TextFields {...props} />
    case 'webhook':
      return <WebhookFields {...props} />
    default:
      return <NoteFields {...props} />
  }
}

const SOURCES = ['blocks', 'mjml', 'html', 'text'] as const
type Source = (typeof SOURCES)[number]

function EmailFields({ campaign, template, onChange, findings, isReadOnly }: Props) {
  const { t } = useTranslation('campaigns')
  const words = useWords(campaign)
  const source = typeof template.mjml === 'string' ? 'mjml' : 'html'
  const mjml = typeof template.mjml === 'string' ? template.mjml : undefined
  const [tab, setTab] = useState<Source>(() => (mjml !== undefined && blocksOf(mjml) ? 'blocks' : source))
  const current = tab === 'text' || tab === 'blocks' ? tab : source
  const value = typeof template[current] === 'string' ? template[current] : ''
  const replaceBy = (wanted: 'html' | 'mjml', start: string) => {
    // A template has HTML or MJML. What was written before can be had back.
    onChange({ ...without(template, source), [wanted]: start })
    undoable(t('editor.replaced', { source: source.toUpperCase() }), () => onChange(template))
  }
  const choose = (wanted: string) => {
    setTab(wanted as Source)
    if (wanted === 'html' && source === 'mjml') replaceBy('html', HTML_START)
    if (wanted === 'mjml' && source === 'html') replaceBy('mjml', MJML_START)
  }
  return (
    <div className="form pad">
      <Line template={template} onChange={onChange} name="subject" max={998} isRequired />
      <Line template={template} onChange={onChange} name="preheader" max={998} about={t('template.preheaderAbout')} />
      <div className="two">
        <Line template={template} onChange={onChange} name="from" max={1000} />
        <Line template={template} onChange={onChange} name="reply_to" max={1000} />
      </div>
      <div>
        <TabBar
          isSmall
          label={t('editor.source')}
          tabs={SOURCES.map((id) => ({ id, label: t(`editor.${id}`) }))}
          current={current}
          onChange={choose}
        />
        <p className="xs quiet">{t(`editor.${current}About`)}</p>
        {current === 'blocks' ? (
          <BlockEditor mjml={mjml} onChange={(mjml) => onChange({ ...template, mjml })} onStart={() => replaceBy('mjml', MJML_START)} />
        ) : (
          <Boxed>
            <CodeEditor
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
          </Boxed>
        )}
      </div>
    </div>
  )
}

const Boxed = ({ children }: { children: ReactNode }) => <Suspense fallback={<Loading />}>{children}</Suspense>

const LONG_MAX = 10_000

function TextFields({ template, onChange, segments }: Props) {
  const { t } = useTranslation('campaigns')
  return (
    <div className="form pad">
      <Line template={template} onChange={onChange} name="body" max={LONG_MAX} isRequired isLong about={t('template.liquid')} />
      {segments && (
        <output className="sm quiet">
          {t('template.segments', { count: segments.segments, characters: segments.characters, encoding: segments.encoding })}
          {segments.non_gsm.length > 0 && ` ${t('template.nonGsm', { characters: segments.non_gsm.join(' ') })}`}
        </output>
      )}
    </div>
  )
}

const IN_APP_TYPES = ['inbox', 'banner', 'modal'] as const

/** Push and in-app messages. */
function NoteFields({ campaign, template, onChange, findings, isReadOnly }: Props) {
  const { t } = useTranslation('campaigns')
  const words = useWords(campaign)
  const isPush = campaign.channel === 'push'
  return (
    <div className="form pad">
      {!isPush && (
        <Select
          label={t('template.type')}
          data={IN_APP_TYPES.map((value) => ({ value, label: t(`template.inApp.${value}`) }))}
          value={typeof template.type === 'string' ? template.type : 'inbox'}
          allowDeselect={false}
          onChange={(type) => onChange({ ...template, type })}
        />
      )}
      <Line template={template} onChange={onChange} name="title" max={255} isRequired />
      <Line
        template={template}
        onChange={onChange}
        name="body"
        max={isPush ? 4000 : LONG_MAX}
        isRequired
        isLong
        about={t('template.liquid')}
      />
      <Line template={template} onChange={onChange} name={isPush ? 'url' : 'action_url'} max={2048} />
      <Line template={template} onChange={onChange} name={isPush ? 'topic' : 'image'} max={isPush ? 255 : 2048} />
      {!isPush && (
        <div>
          <p className="sm">{t('template.html')}</p>
          <p className="xs quiet">{t('template.htmlAbout')}</p>
          <Boxed>
            <CodeEditor
              label={t('template.html')}
              value={typeof template.html === 'string' ? template.html : ''}
              onChange={(html) => onChange(html === '' ? without(template, 'html') : { ...template, html })}
              words={words}
              findings={findings.filter(({ param }) => param.endsWith('html'))}
              isPlain={false}
              isReadOnly={isReadOnly}
            />
          </Boxed>
        </div>
      )}
    </div>
  )
}

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE']

function WebhookFields({ campaign, template, onChange, findings, isReadOnly }: Props) {
  const { t } = useTranslation('campaigns')
  const words = useWords(campaign)
  return (
    <div className="form pad">
      <Select
        label={t('template.method')}
        data={METHODS}
        value={typeof template.method === 'string' ? template.method : 'POST'}
        allowDeselect={false}
        onChange={(method) => onChange({ ...template, method })}
      />
      <Line template={template} onChange={onChange} name="endpoint" max={2048} isRequired />
      <ObjectField template={template} onChange={onChange} name="headers" />
      <div>
        <p className="sm">{t('template.requestBody')}</p>
        <Boxed>
          <CodeEditor
            label={t('template.requestBody')}
            value={typeof template.body === 'string' ? template.body : ''}
            onChange={(body) => onChange(body === '' ? without(template, 'body') : { ...template, body })}
            words={words}
            findings={findings.filter(({ param }) => param.endsWith('body'))}
            isPlain
            isReadOnly={isReadOnly}
          />
        </Boxed>
      </div>
    </div>
  )
}
