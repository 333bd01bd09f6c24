import { ActionIcon, Button, Select, TextInput } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconCopy, IconCopyPlus, IconTrash, IconX } from '@tabler/icons-react'
import { type KeyboardEvent, type RefObject, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Num } from '../../../parts/number.tsx'
import { Sentence } from '../../../parts/sentence.tsx'
import type { Editing } from '../editing.ts'
import { useCopying } from '../marking.tsx'
import { type Place, type Step, targetOf, targetsFor } from '../model/graph.ts'
import { neighbours } from '../model/outline.ts'
import type { Statistics } from '../search.ts'
import { Fields } from './field.tsx'
import { iconOf } from './icons.ts'

type Problem = { param?: string; message: string }
type Props = {
  editing: Editing
  stepKey: string
  step: Step
  stats: Statistics | undefined
  problems: Problem[]
  panel: RefObject<HTMLElement | null>
  onAdd: (place: Place) => void
  onShowUsers: () => void
  /** Back to the step in the outline. */
  onBack: () => void
  onClose: () => void
}

/** The settings of a step, its ways out, and the numbers of its users. */
export function StepPanel({ editing, stepKey, step, stats, problems, panel, onAdd, onShowUsers, onBack, onClose }: Props) {
  const { t } = useTranslation('journeys')
  const { meta, words, give, mayWrite, numbers } = editing
  const id = useId()
  const kind = meta.steps[step.type]
  const [IconOf, tone] = iconOf(step.type)
  const { title } = words(step)
  const press = ({ key, target }: KeyboardEvent) => {
    // Escape closes what is open in a field first.
    if (key === 'Escape' && (target as HTMLElement).getAttribute('aria-expanded') !== 'true') onBack()
  }
  // Settings that a problem names are shown, so that they can be filled in.
  const named = problems.flatMap(({ param = '' }) => param.split('.')[2]?.replace(/\[.*/, '') ?? [])
  return (
    <aside ref={panel} className="drawer step-panel" aria-labelledby={id} onKeyDown={press}>
      <header>
        <span className={`badge ${tone}`}>
          <IconOf size={16} stroke={1.5} aria-hidden />
        </span>
        <div>
          <h2 id={id}>{title}</h2>
          <p className="quiet sm">
            {t('panel.of', { number: numbers.get(stepKey) ?? '–', kind: kind?.label ?? step.type })} · <code>{stepKey}</code>
          </p>
        </div>
        <ActionIcon variant="subtle" color="gray" size={32} aria-label={t('close')} onClick={onClose}>
          <IconX size={16} stroke={1.5} aria-hidden />
        </ActionIcon>
      </header>
      {problems.map(({ param, message }) => (
        <p key={`${param} ${message}`} className="say bad sm">
          <Sentence text={message} />
        </p>
      ))}
      <fieldset className="form pad" disabled={!mayWrite}>
        <legend className="vh">{t('panel.settings')}</legend>
        <p className="sm quiet">{kind?.description.replaceAll('`', '')}</p>
        <TextInput
          label={t('panel.name')}
          placeholder={kind?.label}
          maxLength={255}
          value={step.name}
          onChange={(event) => give({ do: 'rename', key: stepKey, name: event.currentTarget.value })}
        />
        {kind && (
          <Fields
            schema={kind.settings}
            value={step.data}
            shown={[...Object.keys(kind.example), ...named]}
            onChange={(data) => give({ do: 'write', key: stepKey, data })}
          />
        )}
      </fieldset>
      <WaysOut editing={editing} stepKey={stepKey} step={step} onAdd={onAdd} />
      <StepNumbers stats={stats} stepKey={stepKey} onShowUsers={onShowUsers} />
      {mayWrite && <Acts editing={editing} stepKey={stepKey} onClose={onClose} />}
    </aside>
  )
}

/** Where each way out leads. */
function WaysOut({ editing, stepKey, step, onAdd }: Pick<Props, 'editing' | 'stepKey' | 'step' | 'onAdd'>) {
  const { t } = useTranslation('journeys')
  const { graph, meta, words, give, mayWrite, numbers, paths } = editing
  const targets = targetsFor(graph, stepKey, meta.steps)
  const all = paths(step)
  if (all.length === 0) return null
  const label = (key: string) => `${numbers.get(key) ?? '–'} ${words(graph[key] as Step).title}`
  return (
    <fieldset className="form pad sec" disabled={!mayWrite}>
      <legend className="vh">{t('panel.ways')}</legend>
      {all.map((path) => {
        const place = { from: stepKey, path }
        const to = targetOf(graph, place) ?? null
        const data = [...new Set([...targets, ...(to === null ? [] : [to])])].map((value) => ({ value, label: label(value) }))
        return (
          <div key={path} className="way-out">
            <Select
              label={t('panel.way', { path })}
              placeholder={t('panel.nowhere')}
              data={data}
              value={to}
              clearable
              searchable
              onChange={(next) => give({ do: 'connect', at: place, to: next })}
            />
            {mayWrite && (
              <Button variant="default" size="xs" onClick={() => onAdd(place)} aria-label={t('addOn', { path, step: words(step).title })}>
                {t('panel.add')}
              </Button>
            )}
          </div>
        )
      })}
    </fieldset>
  )
}

/** How many users came, are here and left. */
function StepNumbers({ stats, stepKey, onShowUsers }: { stats: Statistics | undefined; stepKey: string; onShowUsers: () => void }) {
  const { t } = useTranslation('journeys')
  const { entered = 0, active = 0, left = 0 } = stats?.steps[stepKey] ?? {}
  if (entered === 0) return null
  return (
    <div className="pad sec sm">
      <p>
        <Num value={entered} /> {t('panel.came')} · <Num value={active} /> {t('panel.here')} · <Num value={left} /> {t('panel.left')}
      </p>
      <Button variant="default" size="xs" mt="xs" onClick={onShowUsers}>
        {t('panel.users')}
      </Button>
    </div>
  )
}

function Acts({ editing, stepKey, onClose }: Pick<Props, 'editing' | 'stepKey' | 'onClose'>) {
  const { t } = useTranslation('journeys')
  const { graph, rows, meta, give, move } = editing
  const { copySteps, duplicateSteps } = useCopying(editing)
  const itself = new Set([stepKey])
  const { up, down } = neighbours(graph, rows, stepKey, meta.steps)
  const remove = () => {
    give({ do: 'remove', key: stepKey })
    onClose()
  }
  return (
    <div className="pad acts sec">
      <Button
        variant="default"
        size="xs"
        disabled={!up}
        leftSection={<IconArrowUp size={14} aria-hidden />}
        onClick={() => move(stepKey, 'up')}
      >
        {t('panel.up')}
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={!down}
        leftSection={<IconArrowDown size={14} aria-hidden />}
        onClick={() => move(stepKey, 'down')}
      >
        {t('panel.down')}
      </Button>
      <Button variant="default" size="xs" leftSection={<IconCopy size={14} aria-hidden />} onClick={() => copySteps(itself)}>
        {t('marked.copy')}
      </Button>
      <Button variant="default" size="xs" leftSection={<IconCopyPlus size={14} aria-hidden />} onClick={() => duplicateSteps(itself)}>
        {t('marked.duplicate')}
      </Button>
      <Button variant="outline" color="ember" size="xs" leftSection={<IconTrash size={14} aria-hidden />} onClick={remove}>
        {t('panel.remove')}
      </Button>
    </div>
  )
}
