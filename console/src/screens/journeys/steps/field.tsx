import { ActionIcon, Button, MultiSelect, Select, Switch } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { OPTIONS_MAX } from '../../../parts/paging.ts'
import { Argument } from '../../../parts/rules/argument.tsx'
import { Named } from '../../../parts/rules/condition.tsx'
import { type Reference, useNames } from '../../../parts/rules/data.ts'
import type { FieldSchema } from '../../../parts/schema-fields.ts'
import { useSettingName } from '../../../parts/setting-name.ts'
import { TypedNumber } from '../../../parts/typed-number.tsx'
import { Described, type FieldProps, helpOf } from './described.tsx'
import { referenceIn, referencesIn } from './in-words.ts'
import { RuleField, TestsField } from './rule-fields.tsx'
import { TextField, ValueField } from './text-fields.tsx'

const isDuration = ({ pattern }: FieldSchema) => pattern?.endsWith('[mhdwy]$') === true
const isTests = (name: string, { type, items }: FieldSchema) => name === 'where' && type === 'array' && items?.properties === undefined

/** A setting of a step, drawn from its schema. */
function Field(props: FieldProps) {
  const { name, schema, value, onChange } = props
  const label = useSettingName()(name)
  const reference = referenceIn(name)
  const common = { label, description: helpOf(schema) }
  if (schema.title === 'Rule') return <RuleField {...props} />
  if (isTests(name, schema)) return <TestsField {...props} />
  if (reference)
    return (
      <Described {...common}>
        <Named kind={reference} label={label} value={value} onChange={(id) => onChange(id === '' ? undefined : id)} />
      </Described>
    )
  const references = referencesIn(name)
  if (references) return <NamedSeveral kind={references} {...common} value={value} onChange={onChange} />
  if (schema.enum)
    return (
      <Select
        {...common}
        data={schema.enum.map(String)}
        value={value === undefined ? null : String(value)}
        clearable
        searchable
        onChange={(next) => onChange(schema.enum?.find((option) => String(option) === next))}
      />
    )
  if (schema.type === 'boolean')
    return <Switch {...common} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
  if (schema.type === 'integer' || schema.type === 'number')
    return (
      <TypedNumber
        {...common}
        min={schema.minimum}
        max={schema.maximum}
        allowDecimal={schema.type === 'number'}
        value={value}
        onChange={onChange}
      />
    )
  if (schema.type === 'array' && schema.items?.enum)
    return (
      <MultiSelect
        {...common}
        data={schema.items.enum.map(String)}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={(next) => onChange(next.length === 0 ? undefined : next)}
      />
    )
  if (schema.type === 'array' && schema.items?.properties) return <ItemsField {...props} />
  if (isDuration(schema))
    return (
      <Described {...common}>
        <Argument label={label} schema={schema} value={value} onChange={(text) => onChange(text === '' ? undefined : text)} />
      </Described>
    )
  return schema.type === 'string' ? <TextField {...props} /> : <ValueField {...props} />
}

type SeveralProps = Pick<FieldProps, 'value' | 'onChange'> & { kind: Reference; label: string; description: string | undefined }

/** Several things of the project, chosen by their names. */
function NamedSeveral({ kind, value, onChange, ...common }: SeveralProps) {
  const names = useNames(kind)
  const ids = Array.isArray(value) ? value.map(String) : []
  const unknown = ids.filter((id) => names.every(({ value }) => value !== id)).map((id) => ({ value: id, label: id }))
  return (
    <MultiSelect
      {...common}
      searchable
      limit={OPTIONS_MAX}
      data={[...names, ...unknown]}
      value={ids}
      onChange={(next) => onChange(next.length === 0 ? undefined : next.map(Number))}
    />
  )
}

type Item = Record<string, unknown>

/** Several settings of the same form: branches, conditions, criteria. */
function ItemsField({ name, schema, value, onChange }: FieldProps) {
  const { t } = useTranslation('journeys')
  const label = useSettingName()(name)
  const items = Array.isArray(value) ? (value as Item[]) : []
  const properties = schema.items?.properties ?? {}
  const set = (next: Item[]) => onChange(next.length === 0 ? undefined : next)
  return (
    <Described label={label} description={helpOf(schema)}>
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no ids, and keep their order.
        <fieldset key={index} className="item">
          <legend className="vh">{t('field.item', { name: label, number: index + 1 })}</legend>
          <Fields
            schema={{ properties, required: schema.items?.required ?? [] }}
            value={item}
            onChange={(next) => set(items.with(index, next))}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={28}
            aria-label={t('field.removeItem', { name: label, number: index + 1 })}
            onClick={() => set(items.toSpliced(index, 1))}
          >
            <IconX size={16} stroke={1.5} aria-hidden />
          </ActionIcon>
        </fieldset>
      ))}
      {items.length < (schema.maxItems ?? Number.POSITIVE_INFINITY) && (
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} stroke={1.75} aria-hidden />}
          onClick={() => set([...items, blankItem(schema.items ?? {}, items)])}
        >
          {t('field.addItem', { name: label })}
        </Button>
      )}
    </Described>
  )
}

/** An item with what it must have: a path of its own, and numbers of one. */
function blankItem({ required = [], properties = {} }: FieldSchema, others: Item[]): Item {
  const taken = new Set(others.map(({ path }) => path))
  const letters = [...'abcdefghijklmnopqrstuvwxyz'].map(String)
  const path = letters.find((letter) => !taken.has(letter)) ?? `path_${others.length + 1}`
  return Object.fromEntries(
    required.map((name) => [name, ['integer', 'number'].includes(String(properties[name]?.type)) ? 1 : name === 'path' ? path : '']),
  )
}

type FieldsProps = {
  schema: FieldSchema
  value: Item
  onChange: (value: Item) => void
  /** Settings that are shown although they are not set. */
  shown?: string[]
}

/** The settings of an object: those that are set or usual, and the others on request. */
export function Fields({ schema: { properties = {}, required = [] }, value, onChange, shown = [] }: FieldsProps) {
  const { t } = useTranslation('journeys')
  const settingName = useSettingName()
  const [asked, setAsked] = useState<string[]>([])
  const isShown = (name: string) => name in value || [...required, ...shown, ...asked].includes(name)
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = value
    onChange(next === undefined ? rest : { ...value, [name]: next })
    setAsked((asked) => [...new Set([...asked, name])])
  }
  const hidden = Object.entries(properties).filter(([name]) => !isShown(name))
  return (
    <>
      {Object.entries(properties)
        .filter(([name]) => isShown(name))
        .map(([name, schema]) => (
          <Field
            key={name}
            name={name}
            schema={schema}
            value={value[name]}
            event={String(value.event_name ?? '')}
            onChange={(next) => set(name, next)}
          />
        ))}
      {hidden.length > 0 && (
        <Select
          size="xs"
          aria-label={t('field.more')}
          placeholder={t('field.more')}
          data={hidden.map(([name]) => ({ value: name, label: settingName(name) }))}
          value={null}
          searchable
          onChange={(name) => name !== null && setAsked([...asked, name])}
        />
      )}
    </>
  )
}
