import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useEdited } from '../../../parts/edited.ts'
import { Member } from '../../../parts/rules/condition.tsx'
import { useMeta } from '../../../parts/rules/data.ts'
import { RuleEditor } from '../../../parts/rules/group.tsx'
import { blankCondition, type Draft, inGroup, isComplete } from '../../../parts/rules/rule.ts'
import { useSettingName } from '../../../parts/setting-name.ts'
import { Described, type FieldProps, helpOf } from './described.tsx'
import { ValueField } from './text-fields.tsx'

/** A rule, edited with fields. It becomes a setting once every value is filled in. */
export function RuleField({ name, schema, value, onChange }: FieldProps) {
  const { t } = useTranslation('journeys')
  const label = useSettingName()(name)
  const { data: meta } = useMeta()
  const { edited: rule, edit, give } = useEdited(value as Draft | undefined, (value) => value)
  if (!meta) return null
  const change = (next: Draft | undefined) => {
    edit(next)
    if (next !== undefined && !isComplete(next)) return
    give(next)
    onChange(next)
  }
  const first = 'attribute' in meta.conditions ? 'attribute' : (Object.keys(meta.conditions)[0] ?? '')
  return (
    <Described label={label} description={helpOf(schema)?.split('. ')[0]}>
      {rule === undefined ? (
        <Button variant="default" size="xs" onClick={() => edit({ all: [blankCondition(first, meta)] })}>
          {t('field.addRule')}
        </Button>
      ) : (
        <>
          <RuleEditor rule={inGroup(rule, meta)} meta={meta} path="rule" level={1} onChange={change} />
          {!isComplete(rule) && <p className="xs quiet">{t('field.incomplete')}</p>}
          <Button variant="subtle" color="gray" size="xs" onClick={() => change(undefined)}>
            {t('field.removeRule')}
          </Button>
        </>
      )}
    </Described>
  )
}

/** Tests of the data of an event, as a rule has them. */
export function TestsField({ name, schema, value, onChange, event = '' }: FieldProps) {
  const { t } = useTranslation('journeys')
  const label = useSettingName()(name)
  const { data: meta } = useMeta()
  const { edited: tests, edit, give } = useEdited(value as Draft[] | undefined, (value) => value)
  const tested = meta?.conditions.event?.schema.properties?.where
  if (!meta || !tested) return <ValueField name={name} schema={schema} value={value} onChange={onChange} />
  const change = (next: Draft[] | undefined) => {
    edit(next)
    if (next !== undefined && !isComplete(next)) return
    give(next)
    onChange(next)
  }
  return (
    <Described label={label} description={helpOf(schema)}>
      {tests === undefined ? (
        <Button variant="default" size="xs" onClick={() => edit([{ attribute: '', is: '' }])}>
          {t('field.addTest')}
        </Button>
      ) : (
        <>
          <Member name={name} schema={tested} meta={meta} value={tests} event={event} onChange={(next) => change(next as Draft[])} />
          <Button variant="subtle" color="gray" size="xs" onClick={() => change(undefined)}>
            {t('field.removeTests')}
          </Button>
        </>
      )}
    </Described>
  )
}
