/** Fields drawn from a JSON Schema, so that a new kind of provider, step or operator needs no screen of its own. */
import { JsonInput, NumberInput, PasswordInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

export type FieldSchema = {
  type?: string | string[]
  title?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  pattern?: string
  writeOnly?: boolean
  items?: FieldSchema
  anyOf?: FieldSchema[]
  oneOf?: FieldSchema[]
  properties?: Record<string, FieldSchema>
  required?: string[]
}

type Values = Record<string, unknown>

type FormProps = {
  schema: FieldSchema
  value: Values
  onChange: (value: Values) => void
  /** Faults of the API, by parameter. */
  faults?: { param?: string; message: string }[]
  /** Before the names of parameters, such as `settings.`. */
  prefix?: string
  /** Secret members that the server has: they are masked, and may be left out. */
  secrets?: string[]
}

const LONG = 500

/** “from_name” as “From name”. */
export const labelOf = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The schema of a value that is not null. */
function plain(schema: FieldSchema): FieldSchema {
  const other = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (other?.length === 1 && other[0]) return { ...schema, ...other[0], description: schema.description ?? other[0].description }
  return schema
}

const typeOf = ({ type, enum: values }: FieldSchema): string =>
  values ? 'enum' : ((Array.isArray(type) ? type.find((name) => name !== 'null') : type) ?? 'any')

/** The fields of an object. */
export function SchemaForm({ schema, value, onChange, faults = [], prefix = '', secrets = [] }: FormProps) {
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = value
    onChange(next === undefined ? rest : { ...rest, [name]: next })
  }
  return (
    <div className="form">
      {Object.entries(schema.properties ?? {}).map(([name, field]) => (
        <Field
          key={name}
          name={name}
          schema={plain(field)}
          value={value[name]}
          onChange={(next) => set(name, next)}
          isRequired={(schema.required ?? []).includes(name) && !secrets.includes(name)}
          isStored={secrets.includes(name)}
          faults={faults}
          param={`${prefix}${name}`}
        />
      ))}
    </div>
  )
}

type FieldProps = {
  name: string
  schema: FieldSchema
  value: unknown
  onChange: (value: unknown) => void
  isRequired: boolean
  isStored?: boolean
  faults: { param?: string; message: string }[]
  param: string
}

/** What every editor of a field gets. */
type Common = { name: string; label: string; description?: string; required: boolean; error?: string }

type EditorProps = { common: Common; schema: FieldSchema; value: unknown; onChange: (value: unknown) => void; isStored: boolean }

/** One field. What has no editor of its own is edited as JSON. */
export function Field({ name, schema, value, onChange, isRequired, isStored = false, faults, param }: FieldProps) {
  const common = {
    name,
    label: schema.title ?? labelOf(name),
    description: schema.description,
    required: isRequired,
    error: faults.find((fault) => fault.param === param)?.message,
  }
  const type = typeOf(schema)
  if (type === 'object' && schema.properties)
    return (
      <fieldset className="fields">
        <legend>{common.label}</legend>
        {schema.description && <p className="quiet xs">{schema.description}</p>}
        <SchemaForm schema={schema} value={(value as Values) ?? {}} onChange={onChange} faults={faults} prefix={`${param}.`} />
      </fieldset>
    )
  const Editor = EDITORS[type] ?? JsonField
  return <Editor common={common} schema={schema} value={value} onChange={onChange} isStored={isStored} />
}

const EDITORS: Record<string, (props: EditorProps) => ReactNode> = {
  boolean: ({ common, schema, value, onChange }) => (
    <Switch
      {...common}
      checked={value === true || (value === undefined && schema.default === true)}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  ),
  enum: ({ common, schema, value, onChange }) => (
    <Select
      {...common}
      data={(schema.enum ?? []).filter((item) => item !== null).map(String)}
      value={value === undefined || value === null ? null : String(value)}
      onChange={(next) => onChange(schema.enum?.find((item) => String(item) === next))}
      clearable={!common.required}
    />
  ),
  integer: (props) => <NumberField {...props} />,
  number: (props) => <NumberField {...props} />,
  string: (props) => <StringField {...props} />,
  array: (props) =>
    props.schema.items && ['string', 'enum'].includes(typeOf(props.schema.items)) ? <WordsField {...props} /> : <JsonField {...props} />,
}

const NumberField = ({ common, schema, value, onChange }: EditorProps) => (
  <NumberInput
    {...common}
    value={typeof value === 'number' ? value : ''}
    min={schema.minimum}
    max={schema.maximum}
    allowDecimal={typeOf(schema) === 'number'}
    onChange={(next) => onChange(next === '' ? undefined : Number(next))}
  />
)

const WordsField = ({ common, schema, value, onChange }: EditorProps) => (
  <TagsInput
    {...common}
    data={(schema.items?.enum ?? []).map(String)}
    value={Array.isArray(value) ? value.map(String) : []}
    maxTags={schema.maxItems}
    onChange={onChange}
  />
)

function StringField({ common, schema, value, onChange, isStored }: EditorProps) {
  const { t } = useTranslation()
  const given = {
    ...common,
    value: typeof value === 'string' ? value : '',
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange(currentTarget.value === '' && !common.required ? undefined : currentTarget.value),
  }
  if (schema.writeOnly || schema.format === 'password')
    return (
      <PasswordInput
        {...given}
        autoComplete="off"
        placeholder={isStored ? t('form.stored') : undefined}
        visibilityToggleButtonProps={{ 'aria-label': t('signIn.show') }}
      />
    )
  if ((schema.maxLength ?? 0) >= LONG) return <Textarea {...given} autosize minRows={3} maxRows={12} />
  const [example] = schema.examples ?? []
  return <TextInput {...given} placeholder={example === undefined ? undefined : String(example)} maxLength={schema.maxLength} />
}

function JsonField({ common, value, onChange }: EditorProps) {
  const { t } = useTranslation()
  return (
    <JsonInput
      {...common}
      autosize
      minRows={3}
      maxRows={16}
      formatOnBlur
      validationError={t('form.json')}
      defaultValue={value === undefined ? '' : JSON.stringify(value, null, 2)}
      onChange={(text) => {
        try {
          onChange(text.trim() === '' ? undefined : JSON.parse(text))
        } catch {
          // Half-typed JSON: the field says so, and the value stays.
        }
      }}
    />
  )
}
