import { ActionIcon, Select } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Num } from '../number.tsx'
import { Condition } from './condition.tsx'
import './rules.css'
import { blankCondition, childrenOf, countOf, type Draft, groupOf, groupWith, isSingle, type Meta, pathIn } from './rule.ts'

type Props = {
  rule: Draft
  meta: Meta
  path: string
  level: number
  /** How many users match each condition alone, by their paths; absent where they are not counted. */
  counts?: ReadonlyMap<string, { count: number }>
  onChange: (rule: Draft) => void
  onRemove?: () => void
}

/** A group of rules, or a condition with the number of users who match it alone. */
export function RuleEditor(props: Props) {
  const { rule, meta, path, counts, onChange, onRemove } = props
  const { t } = useTranslation()
  const group = groupOf(rule, meta)
  if (group !== undefined) return <Group {...props} group={group} />
  const count = counts?.get(path)?.count
  return (
    <div className="rule">
      <Condition rule={rule} meta={meta} onChange={onChange} />
      {counts && <span className="alone-count">{count === undefined ? <span className="quiet">–</span> : <Num value={count} />}</span>}
      {onRemove && (
        <ActionIcon variant="subtle" color="gray" size={28} aria-label={t('rule.removeRule')} onClick={onRemove}>
          <IconX size={16} stroke={1.5} aria-hidden />
        </ActionIcon>
      )}
    </div>
  )
}

function Group({ rule, meta, path, level, counts, onChange, onRemove, group }: Props & { group: string }) {
  const { t } = useTranslation()
  const children = childrenOf(rule, group)
  const set = (next: Draft[]) => onChange(groupWith(group, next, meta))
  const add = (child: Draft) => set([...children, child])
  const blank = () => blankCondition('attribute' in meta.conditions ? 'attribute' : (Object.keys(meta.conditions)[0] ?? ''), meta)
  const isFull = isSingle(group, meta)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset draws its legend into the border.
    <div className="group" role="group" aria-label={meta.groups[group]?.label}>
      <div className="parts">
        <Select
          size="xs"
          aria-label={t('rule.group')}
          allowDeselect={false}
          data={Object.entries(meta.groups).map(([value, { label }]) => ({ value, label }))}
          value={group}
          onChange={(next) => next !== null && onChange(groupWith(next, children, meta))}
        />
        {!isFull && (
          <>
            <button type="button" className="filter add" onClick={() => add(blank())}>
              <IconPlus size={14} stroke={1.75} aria-hidden />
              {t('rule.addRule')}
            </button>
            {level < meta.limits.levels && (
              <button type="button" className="filter add" onClick={() => add(groupWith(group === 'any' ? 'all' : 'any', [blank()], meta))}>
                <IconPlus size={14} stroke={1.75} aria-hidden />
                {t('rule.addGroup')}
              </button>
            )}
          </>
        )}
        {onRemove && (
          <ActionIcon className="end" variant="subtle" color="gray" size={28} aria-label={t('rule.removeGroup')} onClick={onRemove}>
            <IconX size={16} stroke={1.5} aria-hidden />
          </ActionIcon>
        )}
      </div>
      {children.map((child, index) => (
        <RuleEditor
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no ids; their fields are controlled.
          key={index}
          rule={child}
          meta={meta}
          path={pathIn(path, group, index, meta)}
          level={level + 1}
          {...(counts && { counts })}
          onChange={(next) => set(children.with(index, next))}
          {...(children.length > 1 && { onRemove: () => set(children.toSpliced(index, 1)) })}
        />
      ))}
      {level === 1 && countOf(rule, meta) >= meta.limits.conditions && (
        <p className="quiet sm">{t('rule.most', { count: meta.limits.conditions })}</p>
      )}
    </div>
  )
}
