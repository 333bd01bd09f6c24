import { useSyncExternalStore } from 'react'

let isEnded = false
const listeners = new Set<() => void>()

function set(value: boolean) {
  isEnded = value
  for (const listener of listeners) listener()
}

/** Called when the server no longer knows the session. The page stays, and asks for the password over it. */
export const sessionEnded = (): void => set(true)
export const sessionContinues = (): void => set(false)

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Calls back whenever the member has signed in again. */
export const onSessionContinued = (run: () => void): (() => void) => subscribe(() => isEnded || run())

/** Whether the session ended while the page was open. */
export const useSessionEnded = (): boolean => useSyncExternalStore(subscribe, () => isEnded)
