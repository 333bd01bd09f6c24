import { ActionIcon, Autocomplete, Menu, type OptionsFilter, Select } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { OPTIONS_MAX } from '../paging.ts'
import type { FieldSchema } from '../schema-fields.ts'
import { useSettingName } from '../setting-name.ts'
import { Argument } from './argument.tsx'
import { Comparison } from './comparison.tsx'
import { isReference, type Reference, useAttributes, useEvents, useNames } from './data.ts'
import { blankCondition, type Draft, isComparison, kindOf, type Meta } from './rule.ts'

type Props = { rule: Draft; meta: Meta; onChange: (rule: Draft) => void }

/** A condition: its kind, what it is about, and what is required of it, all by its schema. */
export function Condition({ rule, meta, onChange }: Props) {
  const { t } = useTranslation()
  const kind = kindOf(rule, meta) ?? Object.keys(meta.conditions)[0] ?? ''
  const { schema } = meta.conditions[kind] ?? { schema: {} as FieldSchema }
  const compares = isComparison(schema)
  const members = Object.entries(schema.properties ?? {}).filter(([name]) => !(compares && name in meta.operators))
  const isAsked = (name: string) => (schema.required ?? []).includes(name)
  const set = (name: string, value: unknown) => onChange({ ...rule, [name]: value })
  const remove = (name: string) => {
    const { [name]: _, ...rest } = rule
    onChange(rest)
  }
  const optional = members.filter(([name]) => !isAsked(name))
  const added = optional.filter(([name]) => name in rule)
  return (
    <div className="condition">
      <div className="parts">
        <Select
          size="xs"
          aria-label={t('rule.condition')}
          allowDeselect={false}
          data={Object.entries(meta.conditions).map(([value, { label }]) => ({ value, label }))}
          value={kind}
          onChange={(next) => next !== null && next !== kind && onChange(blankCondition(next, meta))}
        />
        {members
          .filter(([name]) => isAsked(name))
          .map(([name, schema]) => (
            <Subject key={name} name={name} schema={schema} meta={meta} value={rule[name]} onChange={(value) => set(name, value)} />
          ))}
        {compares && (
          <Comparison
            rule={rule}
            schema={schema}
            meta={meta}
            onChange={onChange}
            {...(kind === 'attribute' && { attribute: String(rule.attribute) })}
          />
        )}
        <AddMember members={optional.filter(([name]) => !(name in rule))} onAdd={(name, schema) => set(name, blankMember(schema, meta))} />
      </div>
      {added.map(([name, member]) => (
        <Added key={name} name={name} onRemove={() => remove(name)}>
          <Member
            name={name}
            schema={member}
            meta={meta}
            event={String(rule.event ?? '')}
            value={rule[name]}
            onChange={(value) => set(name, value)}
          />
        </Added>
      ))}
    </div>
  )
}

/** What a member begins with. */
function blankMember(schema: FieldSchema, meta: Meta): unknown {
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'array') return [blankMember(schema.items ?? {}, meta)]
  if (!isComparison(schema)) return ''
  const [operator = ''] = Object.keys(schema.properties ?? {}).filter((name) => name in meta.operators)
  return { ...Object.fromEntries((schema.required ?? []).map((name) => [name, ''])), [operator]: '' }
}

function AddMember({ members, onAdd }: { members: [string, FieldSchema][]; onAdd: (name: string, schema: FieldSchema) => void }) {
  const { t } = useTranslation()
  const settingName = useSettingName()
  if (members.length === 0) return null
  return (
    <Menu position="bottom-start" width={320}>
      <Menu.Target>
        <button type="button" className="filter add">
          <IconPlus size={14} stroke={1.75} aria-hidden />
          {t('rule.limit')}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {members.map(([name, schema]) => (
          <Menu.Item key={name} onClick={() => onAdd(name, schema)}>
            {settingName(name)}
            {schema.description && <span className="r">{schema.description}</span>}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function Added({ name, onRemove, children }: { name: string; onRemove: () => void; children: ReactNode }) {
  const { t } = useTranslation()
  const label = useSettingName()(name)
  return (
    <div className="parts below">
      <span className="quiet sm">{label}</span>
      {children}
      <ActionIcon variant="subtle" color="gray" size={24} aria-label={t('rule.removeOf', { name: label })} onClick={onRemove}>
        <IconX size={14} stroke={1.75} aria-hidden />
      </ActionIcon>
    </div>
  )
}

type MemberProps = { name: string; schema: FieldSchema; meta: Meta; value: unknown; onChange: (value: unknown) => void }

/** An optional member: a value, a comparison, or several comparisons. */
export function Member({ name, schema, meta, value, onChange, event }: MemberProps & { event: string }) {
  const { t } = useTranslation()
  const label = useSettingName()(name)
  if (isComparison(schema)) return <Comparison rule={value as Draft} schema={schema} meta={meta} onChange={onChange} />
  if (schema.type !== 'array' || !schema.items || !isComparison(schema.items))
    return <Argument label={label} schema={schema} value={value} onChange={onChange} />
  const { items } = schema
  const tests = value as Draft[]
  const change = (index: number, test: Draft) => onChange(tests.with(index, test))
  return (
    <>
      {tests.map((test, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the tests have no ids, and keep their order.
        <span key={index} className="parts">
          <EventAttribute
            event={event}
            value={String(test.attribute ?? '')}
            onChange={(attribute) => change(index, { ...test, attribute })}
          />
          <Comparison rule={test} schema={items} meta={meta} onChange={(next) => change(index, next)} />
        </span>
      ))}
      <button type="button" className="filter add" onClick={() => onChange([...tests, blankMember(items, meta)])}>
        <IconPlus size={14} stroke={1.75} aria-hidden />
        {t('rule.and')}
      </button>
    </>
  )
}

/** What a condition is about: an attribute, an event, or something of the project by its name. */
function Subject({ name, schema, meta, value, onChange }: MemberProps) {
  const { types, labels } = useAttributes()
  const events = useEvents()
  const label = useSettingName()(name)
  if (isReference(name)) return <Named kind={name} label={label} value={value} onChange={onChange} />
  if (name === 'attribute' || name === 'event') {
    const data =
      name === 'event'
        ? events.map(({ name }) => name)
        : [...types.keys(), ...Object.keys(meta.attributes).filter((key) => !types.has(key))]
    const current = String(value ?? '')
    return (
      <>
        <Autocomplete
          size="xs"
          aria-label={label}
          placeholder={label}
          data={data}
          value={current}
          onChange={onChange}
          {...(name === 'attribute' && {
            filter: byNameOrLabel(labels),
            renderOption: ({ option }) => <WithLabel name={option.value} labels={labels} />,
          })}
        />
        {name === 'attribute' && labels.has(current) && <span className="quiet sm">{labels.get(current)}</span>}
      </>
    )
  }
  return <Argument label={label} schema={schema} value={value} onChange={onChange} />
}

/** Options whose name or label has what was typed. */
const byNameOrLabel =
  (labels: Map<string, string>): OptionsFilter =>
  ({ options, search }) => {
    const wanted = search.trim().toLowerCase()
    return options.filter(
      (option) => 'value' in option && `${option.value} ${labels.get(option.value) ?? ''}`.toLowerCase().includes(wanted),
    )
  }

const WithLabel = ({ name, labels }: { name: string; labels: Map<string, string> }) => (
  <span>
    {name}
    {labels.has(name) && <span className="r">{labels.get(name)}</span>}
  </span>
)

type NamedProps = { kind: Reference; label: string; value: unknown; onChange: (value: unknown) => void }

/** Something of the project, chosen by its name. */
export function Named({ kind, label, value, onChange }: NamedProps) {
  const names = useNames(kind)
  const id = typeof value === 'number' ? String(value) : null
  const data = id === null || names.some(({ value }) => value === id) ? names : [...names, { value: id, label: id }]
  return (
    <Select
      size="xs"
      aria-label={label}
      placeholder={label}
      searchable
      limit={OPTIONS_MAX}
      data={data}
      value={id}
      onChange={(next) => onChange(next === null ? '' : Number(next))}
    />
  )
}

function EventAttribute({ event, value, onChange }: { event: string; value: string; onChange: (value: string) => void }) {
  const { t } = useTranslation()
  const keys =
    useEvents()
      .find(({ name }) => name === event)
      ?.attributes.map(({ key }) => key) ?? []
  return <Autocomplete size="xs" aria-label={t('rule.attribute')} placeholder="data.total" data={keys} value={value} onChange={onChange} />
}
