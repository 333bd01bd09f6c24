import { Select } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Code } from '../../../../parts/code.tsx'
import { CodeField } from '../code-field.tsx'
import { isJson } from '../devices.ts'
import { Editable } from '../editable.tsx'
import { Line, ObjectField, without } from '../line.tsx'
import { useWords } from '../words.ts'
import type { ChannelEditor, DrawnProps, FieldsProps } from './channel.ts'

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE']

function Fields({ campaign, template, onChange, findings, isReadOnly }: FieldsProps) {
  const { t } = useTranslation('campaigns')
  const words = useWords(campaign)
  return (
    <Editable isReadOnly={isReadOnly}>
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
          <CodeField
            label={t('template.requestBody')}
            value={typeof template.body === 'string' ? template.body : ''}
            onChange={(body) => onChange(body === '' ? without(template, 'body') : { ...template, body })}
            words={words}
            findings={findings.filter(({ param }) => param.endsWith('body'))}
            isPlain
            isReadOnly={isReadOnly}
          />
        </div>
      </div>
    </Editable>
  )
}

/** The request as it is sent, and whether its body is JSON. */
function Drawn({ content }: DrawnProps) {
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

export const webhook: ChannelEditor = { start: { method: 'POST', endpoint: '', body: '' }, Fields, more: null, Drawn }
