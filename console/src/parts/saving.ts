/** When a draft is saved: a moment after a change, by a key, and before it is left. */
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { mayLeave, noteUnsaved } from './unsaved.ts'

const AFTER_MS = 800
const AGAIN_MS = 5000

/** `found`: there is a draft from before the page was opened, and the member has not said yet whether it is to be saved. */
export type SaveState = 'saved' | 'changed' | 'saving' | 'offline' | 'conflict' | 'failed' | 'found'

const saveNothing = () => Promise.resolve(false)

type Saving = { state: SaveState; draft: unknown; isByHand: boolean; isKept: boolean }

/** When the draft is saved, and what is asked before the page is left without that. With `isByHand`, it is not saved here. */
export function useSaving(saveNow: () => Promise<boolean>, { state, draft, isByHand, isKept }: Saving) {
  const save = isByHand ? saveNothing : saveNow
  useSaveSoon(save, state, draft)
  useSaveOnLeave(save, state)
  useSaveKey(save, state)
  useGuard(state, isKept)
}

/** Saves a moment after the last change, and what the server did not get a while later. */
function useSaveSoon(saveNow: () => Promise<boolean>, state: SaveState, draft: unknown) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the draft begins the wait anew.
  useEffect(() => {
    if (state !== 'changed' && state !== 'offline') return
    const timer = setTimeout(() => void saveNow(), state === 'offline' ? AGAIN_MS : AFTER_MS)
    return () => clearTimeout(timer)
  }, [state, draft, saveNow])
}

/** Saves what is left when the editor is closed, such as by opening another locale or variant. */
function useSaveOnLeave(saveNow: () => Promise<boolean>, state: SaveState) {
  const last = useRef({ saveNow, state })
  useEffect(() => {
    last.current = { saveNow, state }
  })
  useEffect(
    () => () => {
      const { saveNow, state } = last.current
      if (state === 'changed') void saveNow()
    },
    [],
  )
}

/** ⌘S saves at once. */
function useSaveKey(saveNow: () => Promise<boolean>, state: SaveState) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      if (state !== 'saving' && state !== 'conflict' && state !== 'found') void saveNow()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [saveNow, state])
}

/** Asks before the page is left while the server does not have everything. The draft is in this browser, unless it has no room. */
function useGuard(state: SaveState, isKept: boolean) {
  const isUnsaved = state !== 'saved' && (state !== 'found' || !isKept)
  useEffect(() => (isUnsaved ? noteUnsaved(isKept ? 'kept' : 'no-room') : undefined), [isUnsaved, isKept])
  useBlocker({
    // Steps and tabs of the same object keep the draft.
    shouldBlockFn: ({ current, next }) => isUnsaved && current.pathname !== next.pathname && !mayLeave(),
    enableBeforeUnload: () => isUnsaved,
    disabled: !isUnsaved,
  })
}
