/** Whether single keys act (WCAG 2.1.4): software that types for its user sets them off by accident. The choice stays in this browser. */
import { useSyncExternalStore } from 'react'
import { keepInBrowser } from '../session/keep.ts'

const STORED = 'carillon.single-keys'

const areOn = () => localStorage.getItem(STORED) !== 'off'
const watchers = new Set<() => void>()
const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export function setSingleKeys(isOn: boolean): void {
  keepInBrowser(STORED, isOn ? 'on' : 'off')
  for (const watcher of watchers) watcher()
}

export const useSingleKeys = (): boolean => useSyncExternalStore(watch, areOn)
