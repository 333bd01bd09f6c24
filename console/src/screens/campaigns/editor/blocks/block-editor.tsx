import { Button } from '@mantine/core'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { UndoButtons } from '../../../../parts/undo-buttons.tsx'
import { BlockList } from './block-list.tsx'
import type { Block } from './document.ts'
import { type Command, nextIdOf } from './edit.ts'
import { useBlocks } from './use-blocks.ts'

type Props = {
  /** Undefined where the email is written as HTML. */
  mjml: string | undefined
  onChange: (mjml: string) => void
  /** Replaces what is there by the first blocks. */
  onStart: () => void
}

/** An email as blocks. Everything is done by buttons and fields; nothing has to be dragged. */
export function BlockEditor({ mjml, onChange, onStart }: Props) {
  const { t } = useTranslation('campaigns')
  const edited = useBlocks(mjml ?? '', onChange)
  const root = useRef<HTMLDivElement>(null)
  const [said, say] = useState('')
  const focus = useFocus(root, edited?.blocks)
  if (!edited)
    return (
      <div className="stack">
        <p className="sm">{t('blocks.cannot')}</p>
        <div>
          <Button variant="default" size="xs" onClick={onStart}>
            {t('blocks.start')}
          </Button>
        </div>
      </div>
    )
  const { blocks, give, undo, redo } = edited
  const command = (given: Command) => {
    if (given.do === 'add' || given.do === 'copy') focus(nextIdOf(blocks), 'field')
    if (given.do === 'move') focus(given.id, given.by < 0 ? 'up' : 'down')
    if (given.do === 'remove') focus(given.id, 'field')
    if (given.do !== 'write') say(t(`blocks.did.${given.do}`))
    give(given)
  }
  const press = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return
    const key = event.key.toLowerCase()
    if (key !== 'z' && key !== 'y') return
    event.preventDefault()
    if (key === 'y' || event.shiftKey) redo?.()
    else undo?.()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw and announce a form.
    <div ref={root} className="blocks" role="group" aria-label={t('blocks.label')} tabIndex={-1} onKeyDown={press}>
      <div className="acts">
        <UndoButtons undo={undo} redo={redo} />
      </div>
      <BlockList blocks={blocks} place={undefined} onCommand={command} />
      <output className="vh" aria-live="polite">
        {said}
      </output>
    </div>
  )
}

/** Moves the focus to a block once it is drawn, or to the editor where it is gone. */
function useFocus(root: { current: HTMLElement | null }, blocks: Block[] | undefined) {
  const wanted = useRef<{ id: number; part: 'field' | 'up' | 'down' } | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever other blocks are drawn.
  useEffect(() => {
    if (!wanted.current) return
    const { id, part } = wanted.current
    wanted.current = null
    const block = root.current?.querySelector<HTMLElement>(`[data-block="${id}"]`)
    const inside = block?.querySelector<HTMLElement>(part === 'field' ? 'input, textarea' : `[data-do="${part}"]:not(:disabled)`)
    const target = inside ?? block ?? root.current
    target?.focus()
  }, [blocks])
  return (id: number, part: 'field' | 'up' | 'down') => {
    wanted.current = { id, part }
  }
}
