import { Autocomplete, Group, NumberInput, Select, TagsInput, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { FieldSchema } from '../schema-fields.ts'

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

/** Typed text as a value: a number or a truth value where the attribute has such values, or where its type is not known. */
function typedValue(text: string, schema: FieldSchema, types: string[]): unknown {
  const takes = (type: string) => [schema.type].flat().includes(type) && (types.length === 0 || types.includes(type))
  if (text === '' || (types.length > 0 && takes('string'))) return text
  if (takes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return takes('number') && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

/** The argument of an operator, or another value of a condition, by its schema. */
export function Argument(props: Props) {
  const { label, schema, value, onChange, types = [], suggestions = [] } = props
  const common = { size: 'xs' as const, 'aria-label': label, placeholder: label }
  if (schema.enum)
    return <Select {...common} allowDeselect={false} data={schema.enum.map(String)} value={textOf(value) || null} onChange={onChange} />
  if (schema.type === 'boolean') return <Truth {...props} />
  if (schema.type === 'integer' || schema.type === 'number')
    return (
      <NumberInput
        {...common}
        className="short"
        min={schema.minimum}
        max={schema.maximum}
        allowDecimal={schema.type === 'number'}
        value={typeof value === 'number' ? value : ''}
        onChange={onChange}
      />
    )
  if (schema.type === 'array') return schema.items?.type === 'number' ? <Range {...props} /> : <Values {...props} />
  if (isDuration(schema)) return <Duration {...props} />
  if (isDate(schema)) {
    const type = textOf(value).length > DATE_LENGTH ? 'text' : 'date'
    return <TextInput {...common} type={type} value={textOf(value)} onChange={(event) => onChange(event.currentTarget.value)} />
  }
  return (
    <Autocomplete {...common} data={suggestions} value={textOf(value)} onChange={(text) => onChange(typedValue(text, schema, types))} />
  )
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
  return (
    <TagsInput
      size="xs"
      aria-label={label}
      placeholder={label}
      maxTags={schema.maxItems}
      value={Array.isArray(value) ? value.map(String) : []}
      onChange={(texts) => onChange(texts.map((text) => typedValue(text, schema.items ?? {}, types)))}
    />
  )
}

function Range({ value, onChange }: Props) {
  const { t } = useTranslation()
  const [from, to] = Array.isArray(value) ? value : ['', '']
  return (
    <Group gap="xs" wrap="nowrap">
      <NumberInput size="xs" className="short" aria-label={t('rule.from')} value={from} onChange={(next) => onChange([next, to])} />
      <NumberInput size="xs" className="short" aria-label={t('rule.to')} value={to} onChange={(next) => onChange([from, next])} />
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
