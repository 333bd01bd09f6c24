import { useNavigate } from '@tanstack/react-router'
import { Suspense, useEffect, useRef, useState } from 'react'
import { lazyPart } from '../parts/lazy-part.ts'
import type { SessionProject } from '../session/api.ts'
import { goInList, goToSearch, pressEdit } from './list-keys.ts'
import type { Item } from './nav.ts'
import { useSingleKeys } from './single-keys.ts'
import { addressOf, useNav } from './use-nav.ts'

const OPEN = 'carillon:shortcuts'
const SECOND_KEY_MS = 1500

/** Opens the sheet of shortcuts. */
export const openShortcuts = (): void => void window.dispatchEvent(new Event(OPEN))

const Sheet = lazyPart(() => import('./shortcut-sheet.tsx'), 'ShortcutSheet')

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** A checkbox of a row takes no letters. */
const isBox = (target: EventTarget | null) => target instanceof HTMLInputElement && target.type === 'checkbox'

const SINGLE: Record<string, () => void> = {
  '?': openShortcuts,
  '/': goToSearch,
  j: () => goInList(1),
  k: () => goInList(-1),
  e: pressEdit,
}

/** Single keys: `?` opens the sheet, which is loaded then, and `g` and a second key open a screen. */
export function Shortcuts({ project }: { project: SessionProject }) {
  const [isOpen, setOpen] = useState(false)
  const [isWanted, setWanted] = useState(false)
  const { groups } = useNav(project)
  const items = groups.flatMap((group) => group.items).filter(({ key }) => key !== undefined)
  const isOn = useSingleKeys()
  useEffect(() => {
    const open = () => {
      setWanted(true)
      setOpen(true)
    }
    window.addEventListener(OPEN, open)
    return () => window.removeEventListener(OPEN, open)
  }, [])
  useKeys(project, items, isOn)
  return (
    isWanted && (
      <Suspense>
        <Sheet project={project} isOpen={isOpen} onClose={() => setOpen(false)} />
      </Suspense>
    )
  )
}

function useKeys(project: SessionProject, items: Item[], isOn: boolean) {
  const navigate = useNavigate()
  const startedAt = useRef(0)
  useEffect(() => {
    if (!isOn) return
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return
      if ((isTyping(event.target) && !isBox(event.target)) || document.querySelector('[role="dialog"]')) return
      if (event.key === 'g') {
        startedAt.current = event.timeStamp
        return
      }
      const item = event.timeStamp - startedAt.current < SECOND_KEY_MS ? items.find(({ key }) => key === event.key) : undefined
      startedAt.current = 0
      if (item) return void navigate({ to: addressOf(item, project) })
      const act = SINGLE[event.key]
      if (!act) return
      // A search that gets the focus must not get the key as well.
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [isOn, items, project, navigate])
}
