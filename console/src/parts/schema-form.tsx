/** Fields drawn from the JSON Schema of an object, so that a new kind needs no screen of its own. */
import { PasswordInput, Select, Textarea, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { type FieldSchema, labelOf } from './schema-fields.ts'
import { TypedNumber } from './typed-number.tsx'

export type Values = Record<string, unknown>

type FormProps = {
  schema: FieldSchema
  value: Values
  onChange: (value: Values) => void
  /** Faults of the API, by parameter. */
  faults?: { param?: string; message: string }[]
  /** Before the names of parameters, such as `settings.`. */
  prefix?: string
  /** Secret members that the server has: they are not shown, and may be left out. */
  stored?: string[]
}

/** From this length on, a text has several lines. */
const LONG = 4000

/** The fields of an object whose members are texts, numbers and choices. */
export function SchemaForm({ schema, value, onChange, faults = [], prefix = '', stored = [] }: FormProps) {
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = value
    onChange(next === undefined || next === '' || next === null ? rest : { ...rest, [name]: next })
  }
  return Object.entries(schema.properties ?? {}).map(([name, field]) => (
    <Field
      key={name}
      name={name}
      schema={field}
      value={value[name]}
      isRequired={(schema.required ?? []).includes(name) && !stored.includes(name)}
      isStored={stored.includes(name)}
      fault={faults.find(({ param }) => param === `${prefix}${name}`)?.message}
      onChange={(next) => set(name, next)}
    />
  ))
}

type FieldProps = {
  name: string
  schema: FieldSchema
  value: unknown
  isRequired: boolean
  isStored: boolean
  fault: string | undefined
  onChange: (value: unknown) => void
}

function Field({ name, schema, value, isRequired, isStored, fault, onChange }: FieldProps) {
  const { t } = useTranslation()
  const common = {
    name,
    label: schema.title ?? labelOf(name),
    description: schema.description,
    required: isRequired,
    error: fault,
  }
  if (schema.enum)
    return (
      <Select
        {...common}
        data={schema.enum.map(String)}
        value={typeof value === 'string' ? value : typeof schema.default === 'string' ? schema.default : null}
        clearable={!isRequired}
        onChange={onChange}
      />
    )
  if (schema.type === 'integer' || schema.type === 'number')
    return (
      <TypedNumber
        {...common}
        value={value}
        {...(schema.minimum !== undefined && { min: schema.minimum })}
        {...(schema.maximum !== undefined && { max: schema.maximum })}
        allowDecimal={schema.type === 'number'}
        onChange={onChange}
      />
    )
  const text = {
    ...common,
    value: typeof value === 'string' ? value : '',
    ...(schema.maxLength !== undefined && { maxLength: schema.maxLength }),
    ...(isStored && { placeholder: t('form.stored') }),
    onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  }
  if ((schema.maxLength ?? 0) >= LONG) return <Textarea {...text} autosize minRows={4} maxRows={12} spellCheck={false} />
  if (schema.writeOnly)
    return <PasswordInput {...text} autoComplete="new-password" visibilityToggleButtonProps={{ 'aria-label': t('form.show') }} />
  return <TextInput {...text} />
}
