/** Drafts that save themselves. */
import { CarillonError } from '@carillon/sdk'
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

const AFTER_MS = 800
const AGAIN_MS = 5000

export type SaveState = 'saved' | 'changed' | 'saving' | 'offline' | 'conflict' | 'failed'

type Options<T> = {
  /** Names the draft in this browser: project, kind, id. */
  key: string
  /** The object as the server has it, and its version: `updated_at`, where the API has no other. */
  stored: { value: T; version: string }
  /** Saves the draft over the version that it began with. Rejects with a 409 or a 412 if the server has another one. */
  save: (value: T, version: string) => Promise<{ value: T; version: string }>
  /** Reads what the server has now, after a conflict. */
  reload: () => Promise<{ value: T; version: string }>
}

export type Autosave<T> = {
  draft: T
  change: (value: T) => void
  state: SaveState
  error: CarillonError | null
  /** What the server has, after a conflict. */
  theirs: { value: T; version: string } | null
  /** Ends a conflict with this value, which is saved over theirs. */
  resolve: (value: T) => void
  saveNow: () => Promise<void>
}

type Local<T> = { value: T; version: string }

const isConflict = (error: unknown) => error instanceof CarillonError && (error.status === 409 || error.status === 412)
const isUnreachable = (error: unknown) =>
  error instanceof CarillonError && (error.status === 0 || error.status === 401 || error.status >= 500)

function readLocal<T>(key: string): Local<T> | null {
  const text = localStorage.getItem(key)
  return text === null ? null : (JSON.parse(text) as Local<T>)
}

/**
 * Keeps each change in this browser at once, saves it 0.8 s later, and again every few seconds while the server cannot be reached. What
 * was not saved when the page was closed is found again when it is opened.
 */
export function useAutosave<T>({ key: name, stored, save, reload }: Options<T>): Autosave<T> {
  const key = `carillon.draft.${name}`
  const [draft, setDraft] = useState<T>(() => readLocal<T>(key)?.value ?? stored.value)
  const [state, setState] = useState<SaveState>(() => (readLocal<T>(key) ? 'changed' : 'saved'))
  const [error, setError] = useState<CarillonError | null>(null)
  const [theirs, setTheirs] = useState<{ value: T; version: string } | null>(null)
  const version = useRef(readLocal<T>(key)?.version ?? stored.version)
  const latest = useRef(draft)

  const saveNow = useCallback(async () => {
    const value = latest.current
    setState('saving')
    try {
      const saved = await save(value, version.current)
      version.current = saved.version
      setError(null)
      if (latest.current !== value) return setState('changed')
      localStorage.removeItem(key)
      setState('saved')
    } catch (thrown) {
      if (!(thrown instanceof CarillonError)) throw thrown
      setError(thrown)
      if (isConflict(thrown)) setTheirs(await reload())
      setState(isConflict(thrown) ? 'conflict' : isUnreachable(thrown) ? 'offline' : 'failed')
    }
  }, [key, save, reload])

  const change = useCallback(
    (value: T) => {
      latest.current = value
      setDraft(value)
      localStorage.setItem(key, JSON.stringify({ value, version: version.current }))
      setState((state) => (state === 'conflict' ? state : 'changed'))
    },
    [key],
  )

  const resolve = useCallback(
    (value: T) => {
      if (theirs) version.current = theirs.version
      setTheirs(null)
      setState('changed')
      change(value)
    },
    [theirs, change],
  )

  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the draft begins the wait anew.
  useEffect(() => {
    if (state !== 'changed' && state !== 'offline') return
    const timer = setTimeout(() => void saveNow(), state === 'offline' ? AGAIN_MS : AFTER_MS)
    return () => clearTimeout(timer)
  }, [state, draft, saveNow])

  useSaveKey(saveNow, state)
  useGuard(state)
  return { draft, change, state, error, theirs, resolve, saveNow }
}

/** ⌘S saves at once. */
function useSaveKey(saveNow: () => Promise<void>, state: SaveState) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      if (state !== 'saving' && state !== 'conflict') void saveNow()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [saveNow, state])
}

/** Asks before the page is left while the server does not have everything. The draft is in this browser in any case. */
function useGuard(state: SaveState) {
  const { t } = useTranslation()
  const isUnsaved = state !== 'saved'
  useBlocker({
    // Steps and tabs of the same object keep the draft.
    shouldBlockFn: ({ current, next }) => isUnsaved && current.pathname !== next.pathname && !window.confirm(t('autosave.leave')),
    enableBeforeUnload: () => isUnsaved,
    disabled: !isUnsaved,
  })
}
