import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { notice } from '../../parts/notice.ts'
import { said } from '../../parts/toast.ts'
import { afterStep, type Editing } from './editing.ts'
import type { Place } from './model/graph.ts'

/** The steps that are marked, to be copied or removed together. */
export type Marking = { keys: ReadonlySet<string>; toggle: (key: string) => void; add: (keys: string[]) => void; clear: () => void }

export function useMarking({ graph }: Editing): Marking {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  return {
    keys: new Set([...marked].filter((key) => key in graph)),
    toggle: (key) => setMarked((before) => before.symmetricDifference(new Set([key]))),
    add: (keys) => setMarked((before) => before.union(new Set(keys))),
    clear: () => setMarked(new Set()),
  }
}

/** Whether a click marks a step instead of opening it. */
export const isMarking = ({ ctrlKey, metaKey, shiftKey }: { ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }): boolean =>
  ctrlKey || metaKey || shiftKey

/** What can be done with the marked steps. */
export function MarkedBar({ editing, marking }: { editing: Editing; marking: Marking }) {
  const { t } = useTranslation('journeys')
  const { keys, clear } = marking
  const { copySteps, duplicateSteps } = useCopying(editing)
  return (
    <div className="marked-bar" role="status">
      {keys.size > 0 && (
        <div className="acts">
          <b>{t('marked.count', { count: keys.size })}</b>
          <Button variant="default" size="xs" onClick={() => copySteps(keys)}>
            {t('marked.copy')}
          </Button>
          {editing.mayWrite && (
            <>
              <Button variant="default" size="xs" onClick={() => duplicateSteps(keys)}>
                {t('marked.duplicate')}
              </Button>
              <Button variant="outline" color="ember" size="xs" onClick={() => editing.give({ do: 'remove-all', keys: [...keys] })}>
                {t('marked.remove')}
              </Button>
            </>
          )}
          <Button variant="subtle" color="gray" size="xs" onClick={clear}>
            {t('marked.clear')}
          </Button>
        </div>
      )}
    </div>
  )
}

/** Copies, pastes and duplicates steps, and says what was done. */
export function useCopying(editing: Editing) {
  const { t } = useTranslation('journeys')
  const { copy, paste, duplicate } = editing
  return {
    copySteps: (keys: ReadonlySet<string>) => {
      if (copy(keys)) said(t('marked.copied', { count: keys.size }))
      else notice(t('marked.noRoom'))
    },
    pasteSteps: (at: Place | undefined) => {
      const pasted = paste(at)
      if (pasted === 'no-place') said(t('marked.noPlace'))
      if (pasted === 'without-secrets') said(t('marked.withoutSecrets'))
    },
    duplicateSteps: (keys: ReadonlySet<string>) => void (duplicate(keys) || said(t('marked.noPlace'))),
  }
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || (target instanceof HTMLElement && target.isContentEditable)

/**
 * ⌘C copies the marked steps, or else the one in focus or open, and ⌘V pastes after it. In fields, and while text is selected, the keys
 * keep their usual meaning.
 */
export function useCopyKeys(editing: Editing, marked: ReadonlySet<string>, open: string | undefined) {
  const { copySteps, pasteSteps } = useCopying(editing)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey || isField(event.target)) return
      const focused = document.activeElement?.closest<HTMLElement>('.tree [data-row]')?.dataset.row
      const row = editing.rows.find(({ id }) => id === focused)
      const key = row?.is === 'step' ? row.key : row ? undefined : open
      if (event.key === 'c' && document.getSelection()?.isCollapsed !== false) {
        const keys = marked.size > 0 ? marked : new Set(key === undefined ? [] : [key])
        if (keys.size === 0) return
        event.preventDefault()
        copySteps(keys)
      } else if (event.key === 'v' && editing.mayWrite && editing.hasCopies()) {
        event.preventDefault()
        pasteSteps(key === undefined ? row?.at : afterStep(editing, key))
      }
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  })
}
