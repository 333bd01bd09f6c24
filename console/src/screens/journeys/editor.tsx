import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type RefObject, Suspense, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Empty } from '../../parts/empty.tsx'
import { SearchBox } from '../../parts/filters.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { type EditLock, Others, Taken } from '../../parts/presence.tsx'
import { SaveProblem } from '../../parts/save-state.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { UndoButtons } from '../../parts/undo-buttons.tsx'
import { type Adding, AddStep } from './add-step.tsx'
import type { Editing } from './editing.ts'
import './journeys.css'
import { focusWhenDrawn } from '../../parts/focus.ts'
import { lazyPart } from '../../parts/lazy-part.ts'
import { MarkedBar, useCopyKeys, useMarking } from './marking.tsx'
import { Outline, type ShownSteps } from './outline.tsx'
import { Problems, useProblems } from './problems.tsx'
import { SHAPES, type Shape, type Statistics } from './search.ts'
import { StepPanel } from './steps/panel.tsx'

const route = getRouteApi('/member/p/$project/journeys/$journeyId')
const Canvas = lazyPart(() => import('./canvas/canvas.tsx'), 'Canvas')

type Props = { journeyId: number; editing: Editing; stats: Statistics | undefined; lock: EditLock }

/** The steps: as a canvas and as an outline of the same graph, with the settings of the open step beside them. */
export function Editor({ journeyId, editing, stats, lock }: Props) {
  const { step: open, shape = 'canvas' } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/journeys/$journeyId' })
  const isWide = useMediaQuery('(min-width: 60em)', true, { getInitialValueInEffect: false })
  const [adding, setAdding] = useState<Adding>()
  const panel = useRef<HTMLElement>(null)
  const problems = useProblems(journeyId, editing)
  const marking = useMarking(editing)
  useUndoKeys(editing)
  const openStep = useOpenStep(panel)
  const back = (key?: string) => focusWhenDrawn(() => rowOf(key))
  const shown = open === undefined ? undefined : editing.graph[open]
  useCopyKeys(editing, marking.keys, shown && open)
  const hasCanvas = isWide && shape === 'canvas'
  const add = (at: Adding['at']) => setAdding({ at })
  const shared = { editing, stats, faulty: problems.keys, selected: shown && open, marking, onAdd: add }
  return (
    <>
      <Others lock={lock} />
      <Taken lock={lock} />
      <SaveProblem autosave={editing.autosave} />
      <Tools editing={editing} shape={shape} isWide={isWide} onAdd={() => add(undefined)} onFind={(key) => openStep(key, false)} />
      <div className={['jr', hasCanvas && 'with-canvas', shown && 'with-panel'].filter(Boolean).join(' ')}>
        <div className="stack">
          <MarkedBar editing={editing} marking={marking} />
          <OutlineCard {...shared} onOpen={openStep} />
          <Problems problems={problems} editing={editing} onOpen={openStep} />
        </div>
        {hasCanvas && (
          <Suspense fallback={<Loading />}>
            <Canvas {...shared} onOpen={(key) => openStep(key, false)} />
          </Suspense>
        )}
        {shown && open !== undefined && (
          <StepPanel
            key={open}
            editing={editing}
            stepKey={open}
            step={shown}
            stats={stats}
            problems={problems.of(open)}
            panel={panel}
            onAdd={add}
            onShowUsers={() => void navigate({ search: { view: 'users', step: open } })}
            onBack={() => rowOf(open)?.focus()}
            onClose={() => {
              openStep(undefined)
              back()
            }}
          />
        )}
      </div>
      {editing.mayWrite && (
        <AddStep
          editing={editing}
          adding={adding}
          onDone={(key) => {
            setAdding(undefined)
            if (key !== undefined) openStep(key, false)
            back(key)
          }}
        />
      )}
    </>
  )
}

/** Opens a step: it is in the address. By default its first setting gets the focus. */
function useOpenStep(panel: RefObject<HTMLElement | null>) {
  const navigate = useNavigate({ from: '/p/$project/journeys/$journeyId' })
  return (key: string | undefined, movesFocus = true) => {
    void navigate({
      search: ({ step: _, ...search }) => ({ ...search, ...(key !== undefined && { step: key }) }),
      replace: true,
      resetScroll: false,
    })
    if (key !== undefined && movesFocus) focusWhenDrawn(() => panel.current?.querySelector('input'))
  }
}

/** The row of a step in the outline, or the one that had the focus last. */
function rowOf(key: string | undefined): HTMLElement | null {
  const row = key === undefined ? '[tabindex="0"]' : `[data-row="${CSS.escape(key)}"]`
  return document.querySelector<HTMLElement>(`.tree ${row}`)
}

function OutlineCard(props: ShownSteps) {
  const { t } = useTranslation('journeys')
  const { editing, onAdd } = props
  const add = editing.mayWrite && <Button onClick={() => onAdd(undefined)}>{t('outline.begin')}</Button>
  return (
    <Card title={t('outline.heading')}>
      {editing.rows.length === 0 ? <Empty actions={add}>{t('outline.empty')}</Empty> : <Outline {...props} />}
    </Card>
  )
}

type ToolsProps = { editing: Editing; shape: Shape; isWide: boolean; onAdd: () => void; onFind: (key: string) => void }

function Tools({ editing, shape, isWide, onAdd, onFind }: ToolsProps) {
  const { t } = useTranslation('journeys')
  const navigate = useNavigate({ from: '/p/$project/journeys/$journeyId' })
  const { graph, words, mayWrite, undo, redo } = editing
  const find = (typed: string) => {
    const wanted = typed.trim().toLowerCase()
    const [key] =
      Object.entries(graph).find(([key, step]) => {
        const { title, about } = words(step)
        return `${key} ${title} ${about}`.toLowerCase().includes(wanted)
      }) ?? []
    if (wanted !== '' && key !== undefined) onFind(key)
  }
  return (
    <div className="tools jr-tools">
      {isWide && (
        <TabBar
          isSmall
          label={t('shapes')}
          tabs={SHAPES.map((id) => ({ id, label: t(`shape.${id}`) }))}
          current={shape}
          onChange={(id) => void navigate({ search: (search) => ({ ...search, shape: id as Shape }), replace: true, resetScroll: false })}
        />
      )}
      <SearchBox label={t('find')} value="" onChange={find} />
      {mayWrite && (
        <div className="acts end">
          <UndoButtons undo={undo} redo={redo} />
          <Button variant="default" size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={onAdd}>
            {t('addRoot')}
          </Button>
        </div>
      )}
    </div>
  )
}

/** ⌘Z undoes and ⇧⌘Z does again, except in a field, which undoes what was typed in it. */
function useUndoKeys({ undo, redo }: Editing) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'z' || !(event.metaKey || event.ctrlKey)) return
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return
      event.preventDefault()
      if (event.shiftKey) redo?.()
      else undo?.()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [undo, redo])
}
