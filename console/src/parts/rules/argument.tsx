import { Autocomplete, Group, NumberInput, Select, TagsInput, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useEdited } from '../edited.ts'
import type { FieldSchema } from '../schema-fields.ts'
import { typedValue, typedValues } from '../typed.ts'
import { TypedNumber } from '../typed-number.tsx'

type Props = {
  label: string
  schema: FieldSchema
  value: unknown
  onChange: (value: unknown) => void
  /** The types that the values have, where they are known. */
  types?: string[]
  suggestions?: string[]
}

const UNITS = ['m', 'h', 'd', 'w', 'y'] as const
const DATE_LENGTH = 10

const isDuration = ({ pattern }: FieldSchema) => pattern?.endsWith('[mhdwy]$') === true
const isDate = ({ description }: FieldSchema) => description?.includes('ISO 8601') === true
const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))

/** The argument of an operator, or another value of a condition, by its schema. */
export function Argument(props: Props) {
  const { label, schema, value, onChange } = props
  const common = { size: 'xs' as const, 'aria-label': label, placeholder: label }
  if (schema.enum)
    return <Select {...common} allowDeselect={false} data={schema.enum.map(String)} value={textOf(value) || null} onChange={onChange} />
  if (schema.type === 'boolean') return <Truth {...props} />
  if (schema.type === 'integer' || schema.type === 'number')
    return (
      <TypedNumber
        {...common}
        className="short"
        min={schema.minimum}
        max={schema.maximum}
        allowDecimal={schema.type === 'number'}
        value={value}
        onChange={(next) => onChange(next ?? '')}
      />
    )
  if (schema.type === 'array') return schema.items?.type === 'number' ? <Range {...props} /> : <Values {...props} />
  if (isDuration(schema)) return <Duration {...props} />
  if (isDate(schema)) {
    const type = textOf(value).length > DATE_LENGTH ? 'text' : 'date'
    return <TextInput {...common} type={type} value={textOf(value)} onChange={(event) => onChange(event.currentTarget.value)} />
  }
  return <Scalar {...props} />
}

/** A text, number or truth value. The field keeps what is typed, such as `1.` on the way to `1.5`. */
function Scalar({ label, schema, value, onChange, types = [], suggestions = [] }: Props) {
  const { edited, edit, give } = useEdited(value, textOf)
  const change = (text: string) => {
    const next = typedValue(text, schema, types)
    edit(text)
    give(next)
    onChange(next)
  }
  return <Autocomplete size="xs" aria-label={label} placeholder={label} data={suggestions} value={edited} onChange={change} />
}

function Truth({ label, value, onChange }: Props) {
  const { t } = useTranslation()
  return (
    <Select
      size="xs"
      className="short"
      aria-label={label}
      allowDeselect={false}
      data={[
        { value: 'true', label: t('rule.yes') },
        { value: 'false', label: t('rule.no') },
      ]}
      value={textOf(value) || null}
      onChange={(next) => onChange(next === 'true')}
    />
  )
}

function Values({ label, schema, value, onChange, types = [] }: Props) {
  const before = Array.isArray(value) ? value : []
  return (
    <TagsInput
      size="xs"
      aria-label={label}
      placeholder={label}
      maxTags={schema.maxItems}
      value={before.map(String)}
      onChange={(texts) => onChange(typedValues(texts, before, schema.items ?? {}, types))}
    />
  )
}

function Range({ value, onChange }: Props) {
  const { t } = useTranslation()
  const [from, to] = Array.isArray(value) ? value : ['', '']
  return (
    <Group gap="xs" wrap="nowrap">
      <TypedNumber size="xs" className="short" aria-label={t('rule.from')} value={from} onChange={(next) => onChange([next ?? '', to])} />
      <TypedNumber size="xs" className="short" aria-label={t('rule.to')} value={to} onChange={(next) => onChange([from, next ?? ''])} />
    </Group>
  )
}

function Duration({ label, value, onChange }: Props) {
  const { t } = useTranslation()
  const text = textOf(value)
  const unit = UNITS.find((unit) => text.endsWith(unit)) ?? 'd'
  const count = Number.parseInt(text, 10)
  return (
    <Group gap={4} wrap="nowrap">
      <NumberInput
        size="xs"
        className="short"
        aria-label={label}
        min={1}
        allowDecimal={false}
        value={Number.isNaN(count) ? '' : count}
        onChange={(next) => onChange(next === '' ? '' : `${next}${unit}`)}
      />
      <Select
        size="xs"
        className="short"
        aria-label={t('rule.unit.label')}
        allowDeselect={false}
        data={UNITS.map((unit) => ({ value: unit, label: t(`rule.unit.${unit}`) }))}
        value={unit}
        onChange={(next) => onChange(Number.isNaN(count) ? '' : `${count}${next}`)}
      />
    </Group>
  )
}
