/** Drafts in this browser that the server does not have yet. */
import { useSyncExternalStore } from 'react'
import { useSession } from '../session/index.ts'
import { isSame } from './merge.ts'

/** A draft in this browser, and what the server had when it began. */
export type Local<T> = { value: T; base: T }

const listeners = new Set<() => void>()

function write(change: () => void): void {
  change()
  for (const listener of listeners) listener()
}

export function readLocal<T>(key: string): Local<T> | null {
  const text = localStorage.getItem(key)
  return text === null ? null : (JSON.parse(text) as Local<T>)
}

export const keepLocal = <T>(key: string, draft: Local<T>): void => write(() => localStorage.setItem(key, JSON.stringify(draft)))

/** Removes the draft if it has this value. Another one was written in another tab. */
export function dropLocal(key: string, value: unknown): void {
  if (isSame(readLocal(key)?.value, value)) write(() => localStorage.removeItem(key))
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
