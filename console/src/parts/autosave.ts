/** Drafts that save themselves. */
import { CarillonError, etagOf } from '@carillon/sdk'
import { useCallback, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { lastWrite, type Write } from '../session/last-write.ts'
import { type Local, readLocal, useKept, useLocalKey } from './local-drafts.ts'
import { type Clash, isSame, merge, withAt } from './merge.ts'
import { type SaveState, useSaving } from './saving.ts'
import { said } from './toast.ts'

/** An object as the server has it, with its version; null if there is none yet. */
export type Stored<T> = { value: T; version: string | null }

type Options<T> = {
  /** Names the draft in this browser: project, kind, id. */
  key: string
  /** The object as it was read. */
  stored: T
  /** Saves the draft over the version that it began with: with `ifVersion`. */
  save: (value: T, version: string | null) => Promise<Stored<T>>
  /** Reads what the server has now. */
  reload: () => Promise<Stored<T>>
  /** While another member edits it, nothing is saved. */
  isLocked?: boolean
  /** What is saved is sent: a draft that is found when the page is opened is saved only if the member says so. */
  isLive?: boolean
  /** What is saved is used at once: it is saved only when `saveNow` is called. */
  isByHand?: boolean
}

export type Autosave<T> = {
  draft: T
  change: (value: T) => void
  state: SaveState
  error: CarillonError | null
  /** What another member has changed too. The draft has what was entered here, until one of both is chosen. */
  clashes: Clash[]
  /** Ends some clashes with one of both. */
  choose: (clashes: Clash[], side: 'mine' | 'theirs') => void
  /** Answers a draft that was found. */
  answer: (isWanted: boolean) => void
  /** Takes what the server has now in place of a draft that it refuses, or what the draft began with if it refuses to read that too. */
  discard: () => Promise<void>
  /** Returns whether the server has the whole draft. */
  saveNow: () => Promise<boolean>
  /** Takes over what the server has now, if nothing was changed here since the last save. */
  readAgain: () => Promise<void>
  /**
   * Reads the version that the server has. Returns null if another member has changed it since this page read or saved it; the draft then takes
   * the change over. Throws what the request throws.
   */
  seenVersion: () => Promise<string | null>
  /** The request of the last save since the page was opened. */
  sent: Write | null
  /** Whether this browser has the draft. It may have no room for it. */
  isKept: boolean
}

/** The version of an object that was just read or saved. */
export const versionOf = (reply: object): string | null => etagOf(reply) ?? null

/** The headers of a write that must not replace another version than this one. */
export const ifVersion = (version: string | null): Record<string, string> =>
  version === null ? { 'if-none-match': '*' } : { 'if-match': version }

/** What is known of the server. */
type Known<T> = {
  /** What it had when it was last read. */
  base: T
  /** The draft of which it has everything. What it has may be written in another way. */
  saved: T
  /** What the draft in this browser began with: another one while a choice is open, which is then asked again when the page is opened again. */
  begun: T
  /** Unknown before the first save, and after one that failed. */
  version: string | null | undefined
  /** What was sent and not answered. It may have been saved all the same. */
  sent: T | undefined
  isClashing: boolean
  isFound: boolean
}

const isConflict = (error: CarillonError) => error.status === 412
/** What another try cannot mend. Other refusals end, as those of a limit or of a session that is over. */
const REFUSED_FOR_GOOD = [400, 404, 410, 422]
const isRefused = (thrown: unknown) => thrown instanceof CarillonError && REFUSED_FOR_GOOD.includes(thrown.status)
const isUnreachable = ({ status }: CarillonError) => status === 0 || status === 401 || status >= 500

/**
 * Keeps each change in this browser at once, saves it 0.8 s later, and again every few seconds while the server cannot be reached. What was
 * not saved when the page was closed is found again when it is opened. What another member has saved meanwhile is kept too: only where both
 * have changed the same value, the member has to choose one.
 */
export function useAutosave<T>({
  key: name,
  stored,
  save,
  reload,
  isLocked = false,
  isLive = false,
  isByHand = false,
}: Options<T>): Autosave<T> {
  const { t } = useTranslation()
  const key = useLocalKey(name)
  const [first] = useState(() => firstOf(key, stored, isLive))
  const [draft, setDraft] = useState<T>(first.value)
  const [state, setState] = useState<SaveState>(first.state)
  const [{ error, sent }, setResult] = useState<Pick<Autosave<T>, 'error' | 'sent'>>({ error: null, sent: null })
  const [clashes, setClashes] = useState<Clash[]>([])
  const known = useRef<Known<T>>(begunWith(first.base, first.state === 'found'))
  const latest = useRef(draft)
  const { isKept, keepDraft, dropDraft } = useKept(key, draft)
  const running = useRef<Promise<unknown>>(Promise.resolve())
  const fail = useCallback((error: CarillonError) => setResult(({ sent }) => ({ error, sent })), [])
  const { begin, readAgain, seenVersion, discard } = useStored({ dropDraft, known, latest, running, reload, setDraft, setState, fail })
  const keep = useCallback(
    (value: T) => {
      latest.current = value
      setDraft(value)
      keepDraft({ value, base: known.current.begun })
    },
    [keepDraft],
  )

  const meet = useCallback(
    ({ value, version }: Stored<T>) => {
      const met = merge(known.current.base, latest.current, value)
      const isClashing = met.clashes.length > 0
      known.current = { ...begunWith(value), ...(isClashing && { begun: known.current.begun }), version, isClashing }
      keep(met.value)
      setClashes(met.clashes)
      if (!isClashing) said(t('autosave.merged'))
      setState(isClashing ? 'conflict' : 'changed')
      return false
    },
    [keep, t],
  )

  const saveOnce = useCallback(async (): Promise<boolean> => {
    if (known.current.isClashing || known.current.isFound || isLocked) return false
    setState('saving')
    try {
      const { theirs, saved } = await saveOver(known, latest, { reload, save })
      if (theirs) return meet(theirs)
      setResult({ error: null, sent: lastWrite() })
      const isWhole = latest.current === saved
      if (isWhole) dropDraft()
      setState(isWhole ? 'saved' : 'changed')
      return isWhole
    } catch (thrown) {
      if (!(thrown instanceof CarillonError)) throw thrown
      fail(thrown)
      known.current.version = undefined
      setState(isConflict(thrown) ? 'changed' : isUnreachable(thrown) ? 'offline' : 'failed')
      return false
    }
  }, [dropDraft, save, reload, meet, fail, isLocked])

  // One after the other, so that none meets the version of the one before.
  const saveNow = useCallback(() => after(running, saveOnce), [saveOnce])

  const change = useCallback(
    (value: T) => {
      keep(value)
      setState((state) => (state === 'conflict' || state === 'found' ? state : 'changed'))
    },
    [keep],
  )

  const choose = useCallback(
    (chosen: Clash[], side: 'mine' | 'theirs') => {
      if (side === 'theirs') keep(chosen.reduce((value, { path, theirs }) => withAt(value, path, theirs), latest.current))
      const left = clashes.filter((clash) => !chosen.includes(clash))
      setClashes(left)
      if (left.length > 0) return
      known.current = { ...known.current, begun: known.current.base, isClashing: false }
      keep(latest.current)
      setState('changed')
    },
    [clashes, keep],
  )

  const answer = (isWanted: boolean) => {
    if (!isWanted) return begin({ value: stored, version: undefined })
    known.current.isFound = false
    setState('changed')
  }

  useSaving(saveNow, { state, draft, isByHand, isKept })
  return { draft, change, state, error, clashes, choose, answer, discard, saveNow, readAgain, seenVersion, sent, isKept }
}

/** What the page begins with: the draft in this browser if there is one. */
function firstOf<T>(key: string, stored: T, isLive: boolean): Local<T> & { state: SaveState } {
  const local = readLocal<T>(key)
  if (local === null) return { value: stored, base: stored, state: 'saved' }
  return { ...local, state: isLive ? 'found' : 'changed' }
}

const begunWith = <T>(base: T, isFound = false): Known<T> => ({
  base,
  saved: base,
  begun: base,
  version: undefined,
  sent: undefined,
  isClashing: false,
  isFound,
})

/** Runs after what runs already. Throws what `run` throws. */
function after<T>(running: { current: Promise<unknown> }, run: () => Promise<T>): Promise<T> {
  const next = running.current.catch(() => undefined).then(run)
  running.current = next
  return next
}

type Held<T> = Pick<Options<T>, 'reload'> & {
  dropDraft: () => void
  known: { current: Known<T> }
  latest: { current: T }
  running: { current: Promise<unknown> }
  setDraft: (value: T) => void
  setState: (state: SaveState) => void
  /** Says why the draft is not saved. */
  fail: (error: CarillonError) => void
}

/** What an object begins with again. */
type Read<T> = Pick<Known<T>, 'version'> & { value: T }

/** Puts what the server has in the place of the draft: what was known of it, or what is read now. */
function useStored<T>({ dropDraft, known, latest, running, reload, setDraft, setState, fail }: Held<T>) {
  const begin = useCallback(
    ({ value, version }: Read<T>) => {
      dropDraft()
      known.current = { ...begunWith(value), version }
      latest.current = value
      setDraft(value)
      setState('saved')
    },
    [dropDraft, known, latest, setDraft, setState],
  )
  // After what is being saved. What is changed here meanwhile stays: its save meets what the server has.
  const readAfter = useCallback(
    (
      isTaken: (now: T) => boolean,
      { read: current = reload, failed }: { read?: () => Promise<Read<T>>; failed?: (error: CarillonError) => void } = {},
    ): Promise<unknown> => {
      const read = async () => {
        const before = latest.current
        const now = await current()
        if (latest.current === before && isTaken(now.value)) begin(now)
      }
      return after(running, read).catch((thrown: unknown) => {
        if (!(thrown instanceof CarillonError)) throw thrown
        failed?.(thrown)
      })
    },
    [latest, running, reload, begin],
  )
  // The draft in this browser says nothing of this page: it may be that of another tab.
  const readAgain = useCallback(async () => {
    await readAfter((now) => isSame(latest.current, known.current.saved) && !isSame(now, known.current.base))
  }, [known, latest, readAfter])
  const seenVersion = useCallback(async () => {
    const now = await after(running, reload)
    if (isSame(now.value, known.current.base)) return now.version
    await readAgain()
    return null
  }, [known, running, reload, readAgain])
  const discard = useCallback(async () => {
    const read = (): Promise<Read<T>> =>
      reload().catch((thrown: unknown) => {
        // Where nothing can be read, nothing can be saved either: the draft must not stay for ever.
        if (isRefused(thrown)) return { value: known.current.base, version: undefined }
        throw thrown
      })
    await readAfter(() => true, { read, failed: fail })
  }, [known, reload, readAfter, fail])
  return { begin, readAgain, seenVersion, discard }
}

/**
 * Saves the draft over what is known of the server, which is read first if its version is not. Returns what was saved, or what the server has
 * instead. Throws what the requests throw.
 */
async function saveOver<T>(known: { current: Known<T> }, latest: { current: T }, { reload, save }: Pick<Options<T>, 'reload' | 'save'>) {
  if (known.current.version === undefined) {
    const now = await reload()
    const { base, sent } = known.current
    if (!isSame(now.value, base) && !isSame(now.value, sent)) return { theirs: now }
    known.current = { ...known.current, base: now.value, saved: now.value, begun: now.value, version: now.version }
  }
  const value = latest.current
  known.current.sent = value
  const { value: base, version } = await save(value, known.current.version ?? null)
  known.current = { ...begunWith(base), saved: value, version }
  return { saved: value }
}
