import type { Client } from '@carillon/sdk'
import { useWrite } from './data.ts'
import { undoable } from './toast.ts'

/** Saves a new value, shows a toast, and offers Undo, which saves the former value again. `onSaved` is given what was sent, and what is stored now. */
export function useUndoableWrite<V, T>(
  write: (api: Client, value: V) => Promise<T>,
  changes: string[],
  message: string,
  onSaved?: (sent: V, saved: T) => void,
) {
  const save = useWrite(
    (api, { value }: { value: V; before?: V }) => write(api, value),
    changes,
    (saved, { value, before }) => {
      onSaved?.(value, saved)
      if (before !== undefined) undoable(message, () => save.mutate({ value: before }))
    },
  )
  return save
}
