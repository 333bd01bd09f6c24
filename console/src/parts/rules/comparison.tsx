import { Select } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { FieldSchema } from '../schema-fields.ts'
import { Argument } from './argument.tsx'
import { useAttributes } from './data.ts'
import { type Draft, type Meta, operatorOf, operatorsOf } from './rule.ts'

type Props = {
  rule: Draft
  schema: FieldSchema
  meta: Meta
  onChange: (rule: Draft) => void
  /** The attribute that is compared, if it is one of the user. */
  attribute?: string
}

/** An operator and its argument. */
export function Comparison({ rule, schema, meta, onChange, attribute }: Props) {
  const { t } = useTranslation()
  const { types, samples } = useAttributes()
  const kind = attribute === undefined ? undefined : meta.attributes[attribute]?.type
  const names = operatorsOf(schema, meta).filter((name) => kind === undefined || meta.operators[name]?.types.includes(kind))
  const current = operatorOf(rule, schema, meta) ?? names[0] ?? ''
  const choose = (next: string | null) => {
    if (next === null) return
    const { [current]: value, ...rest } = rule
    const isSame = JSON.stringify(meta.operators[next]?.argument.type) === JSON.stringify(meta.operators[current]?.argument.type)
    onChange({ ...rest, [next]: isSame ? value : meta.operators[next]?.argument.type === 'boolean' ? true : '' })
  }
  return (
    <>
      <Select
        size="xs"
        aria-label={t('rule.operator')}
        allowDeselect={false}
        data={names.map((value) => ({ value, label: meta.operators[value]?.label ?? value }))}
        value={current}
        onChange={choose}
      />
      <Argument
        label={t('rule.value')}
        schema={schema.properties?.[current] ?? meta.operators[current]?.argument ?? {}}
        value={rule[current]}
        types={attribute === undefined ? [] : (types.get(attribute) ?? (kind === undefined ? [] : [kind]))}
        suggestions={attribute === undefined ? [] : (samples.get(attribute) ?? [])}
        onChange={(value) => onChange({ ...rule, [current]: value })}
      />
    </>
  )
}
