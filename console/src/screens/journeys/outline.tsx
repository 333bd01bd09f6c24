import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Num } from '../../parts/number.tsx'
import { afterStep, type Editing } from './editing.ts'
import { isMarking, type Marking } from './marking.tsx'
import type { Place } from './model/graph.ts'
import type { Row } from './model/outline.ts'
import type { Statistics } from './search.ts'
import { iconOf } from './steps/icons.ts'

/** The steps, what is chosen of them, and what can be done to them. */
export type ShownSteps = {
  editing: Editing
  stats: Statistics | undefined
  /** The keys of steps with a problem. */
  faulty: ReadonlySet<string>
  selected: string | undefined
  marking: Marking
  onOpen: (key: string) => void
  onAdd: (place: Place | undefined) => void
}

/** The steps as a tree. Everything that the canvas does can be done here by the keyboard. */
export function Outline({ editing, stats, faulty, selected, marking, onOpen, onAdd }: ShownSteps) {
  const { t } = useTranslation('journeys')
  const { rows, mayWrite } = editing
  const tree = useRef<HTMLUListElement>(null)
  const [current, setCurrent] = useState<string | undefined>(selected)
  const at = Math.max(
    0,
    rows.findIndex(({ id }) => id === current),
  )
  const focus = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)]
    if (!row) return
    setCurrent(row.id)
    tree.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row.id)}"]`)?.focus()
  }
  // A step that was added, moved or opened elsewhere is where the keys begin.
  useEffect(() => setCurrent(selected), [selected])
  const press = useKeys({ editing, marking, at, focus, onOpen, onAdd })
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a tree is made of a list. */}
      <ul ref={tree} className="tree" role="tree" aria-multiselectable aria-label={t('outline.label')} onKeyDown={press}>
        {rows.map((row, index) => (
          <Item
            key={row.id}
            row={row}
            editing={editing}
            stats={stats}
            isFaulty={row.is === 'step' && faulty.has(row.key)}
            isSelected={row.is === 'step' && row.key === selected}
            isMarked={row.is === 'step' && marking.keys.has(row.key)}
            isCurrent={index === at}
            onFocus={() => setCurrent(row.id)}
            onClick={(event) => {
              setCurrent(row.id)
              if (row.is === 'step' && isMarking(event)) marking.toggle(row.key)
              else if (row.is !== 'end') onOpen(row.key)
              else if (mayWrite) onAdd(row.at)
            }}
          />
        ))}
      </ul>
      {mayWrite && <Keys />}
    </>
  )
}

type KeysGiven = Pick<ShownSteps, 'editing' | 'marking' | 'onOpen' | 'onAdd'> & { at: number; focus: (index: number) => void }

/** What the keys do in the tree. */
function useKeys({ editing, marking, at, focus, onOpen, onAdd }: KeysGiven) {
  const { rows, mayWrite, give, move } = editing
  const row = rows[at]
  const parent = () => rows.slice(0, at).findLastIndex(({ level }) => level < (row?.level ?? 1))
  const below = () => ((rows[at + 1]?.level ?? 0) > (row?.level ?? 0) ? at + 1 : at)
  const add = () => {
    const place = row?.is === 'step' ? afterStep(editing, row.key) : row?.at
    // Nothing follows a step that ends the journey.
    if (place !== undefined) onAdd(place)
  }
  const remove = () => {
    if (marking.keys.size > 0) give({ do: 'remove-all', keys: [...marking.keys] })
    else if (row?.is === 'step') give({ do: 'remove', key: row.key })
    else return
    focus(at - 1)
  }
  const open = () => {
    if (row && row.is !== 'end') onOpen(row.key)
    else if (mayWrite) add()
  }
  const extend = (to: number) => {
    marking.add([rows[at], rows[to]].flatMap((one) => (one?.is === 'step' ? [one.key] : [])))
    focus(to)
  }
  const writes: [string, () => void][] = [
    ['a', add],
    ['Delete', remove],
    ['Backspace', remove],
    ['Alt ArrowUp', () => row?.is === 'step' && move(row.key, 'up')],
    ['Alt ArrowDown', () => row?.is === 'step' && move(row.key, 'down')],
  ]
  const actions = new Map<string, () => void>([
    ['ArrowDown', () => focus(at + 1)],
    ['ArrowUp', () => focus(at - 1)],
    ['ArrowLeft', () => focus(Math.max(parent(), 0))],
    ['ArrowRight', () => focus(below())],
    ['Home', () => focus(0)],
    ['End', () => focus(rows.length - 1)],
    ['Enter', open],
    [' ', () => row?.is === 'step' && marking.toggle(row.key)],
    ['Shift ArrowDown', () => extend(at + 1)],
    ['Shift ArrowUp', () => extend(at - 1)],
    ['Escape', marking.clear],
    ...(mayWrite ? writes : []),
  ])
  return (event: KeyboardEvent) => {
    const isPlain = !event.ctrlKey && !event.metaKey
    const name = [event.altKey && 'Alt ', event.shiftKey && event.key.startsWith('Arrow') && 'Shift ', event.key].filter(Boolean).join('')
    const run = isPlain ? actions.get(name) : undefined
    if (!run) return
    event.preventDefault()
    run()
  }
}

type ItemProps = {
  row: Row
  editing: Editing
  stats: Statistics | undefined
  isFaulty: boolean
  isSelected: boolean
  isMarked: boolean
  isCurrent: boolean
  onFocus: () => void
  onClick: (event: MouseEvent) => void
}

function Item({ row, editing: { graph, words, numbers }, stats, isFaulty, isSelected, isMarked, isCurrent, onFocus, onClick }: ItemProps) {
  const { t } = useTranslation('journeys')
  const step = row.is === 'end' ? undefined : graph[row.key]
  const [IconOf] = iconOf(step?.type ?? '')
  const { title, about } = step ? words(step) : { title: t('outline.end'), about: '' }
  const path = row.isBranch && row.at ? `${row.at.path}: ` : ''
  const { entered = 0, active = 0 } = (row.is === 'step' && stats?.steps[row.key]) || {}
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree hears the keys.
    <li
      role="treeitem"
      data-row={row.id}
      className={[row.is, isSelected && 'sel', isMarked && 'marked', isFaulty && 'faulty'].filter(Boolean).join(' ')}
      aria-level={row.level}
      aria-selected={isSelected || isMarked}
      tabIndex={isCurrent ? 0 : -1}
      style={{ paddingInlineStart: `${row.level - 0.25}rem` }}
      onFocus={onFocus}
      onClick={onClick}
    >
      {row.is === 'step' ? <IconOf size={16} stroke={1.5} aria-hidden /> : <span aria-hidden>{row.is === 'jump' ? '↪' : '+'}</span>}
      <span>
        {path !== '' && <em>{path}</em>}
        {row.is === 'step' && <em>{numbers.get(row.key)} </em>}
        {row.is === 'jump' ? t('outline.jump', { number: numbers.get(row.key) ?? '–', title }) : title}
        {row.is === 'step' && about !== '' && <small>{about}</small>}
        {isFaulty && <small className="tb">{t('outline.faulty')}</small>}
      </span>
      {entered > 0 && (
        <em>
          {active > 0 ? (
            <>
              <Num value={active} /> {t('panel.here')}
            </>
          ) : (
            <Num value={entered} />
          )}
        </em>
      )}
    </li>
  )
}

function Keys() {
  const { t } = useTranslation('journeys')
  const keys = [
    ['↑ ↓', 'step'],
    ['← →', 'branch'],
    [t('key.enter'), 'open'],
    ['A', 'add'],
    ['Alt ↑ ↓', 'move'],
    [t('key.delete'), 'remove'],
    [t('key.space'), 'mark'],
    [t('key.combined', { key: 'C' }), 'copy'],
    [t('key.combined', { key: 'V' }), 'paste'],
  ] as const
  return (
    <p className="keys xs quiet">
      {keys.map(([key, id]) => (
        <span key={id}>
          <kbd>{key}</kbd> {t(`keys.${id}`)}
        </span>
      ))}
    </p>
  )
}
