/** Drafts in this browser that the server does not have yet. */
import { useCallback, useRef, useState, useSyncExternalStore } from 'react'
import { useSession } from '../session/index.ts'
import { keepInBrowser } from '../session/keep.ts'
import { isSame } from './merge.ts'

/** A draft in this browser, and what the server had when it began. */
export type Local<T> = { value: T; base: T }

const listeners = new Set<() => void>()

function write<T>(change: () => T): T {
  const result = change()
  for (const listener of listeners) listener()
  return result
}

export function readLocal<T>(key: string): Local<T> | null {
  const text = localStorage.getItem(key)
  return text === null ? null : (JSON.parse(text) as Local<T>)
}

/** Keeps the draft of a page in this browser, which may have no room for it: then an older one stays. */
export function useKept<T>(key: string, first: T) {
  const kept = useRef(first)
  const [isKept, setKept] = useState(true)
  const keepDraft = useCallback(
    (draft: Local<T>) => {
      const hasRoom = write(() => keepInBrowser(key, JSON.stringify(draft)))
      if (hasRoom) kept.current = draft.value
      setKept(hasRoom)
    },
    [key],
  )
  // Another one was written in another tab.
  const dropDraft = useCallback(() => {
    if (isSame(readLocal(key)?.value, kept.current)) write(() => localStorage.removeItem(key))
  }, [key])
  return { isKept, keepDraft, dropDraft }
}

/** The key of a draft, which belongs to the member who wrote it. */
export const useLocalKey = (name: string): string => `carillon.draft.${useSession().member.id}.${name}`

/** The drafts of the member whose names begin so: how their names go on. Those of other tabs too. */
export function useLocalDrafts(before: string): string[] {
  const start = useLocalKey(before)
  const names = useSyncExternalStore(listen, () =>
    Object.keys(localStorage)
      .filter((key) => key.startsWith(start))
      .map((key) => key.slice(start.length))
      .toSorted()
      .join('\n'),
  )
  return names === '' ? [] : names.split('\n')
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}
