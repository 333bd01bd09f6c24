import { useEffect, useSyncExternalStore } from 'react'

type Title = { text: string; crumb?: string }

let current: Title | undefined
const listeners = new Set<() => void>()

function set(title: Title | undefined) {
  current = title
  document.title = title ? `${title.text} · Carillon` : 'Carillon'
  for (const listener of listeners) listener()
}

/** Sets the title of the tab. `crumb` is the name of an object, which the breadcrumb shows after its screen. */
export function useSetTitle(text: string, crumb?: string): void {
  useEffect(() => {
    set({ text, ...(crumb !== undefined && { crumb }) })
    return () => set(undefined)
  }, [text, crumb])
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useTitle = (): Title | undefined => useSyncExternalStore(subscribe, () => current)
