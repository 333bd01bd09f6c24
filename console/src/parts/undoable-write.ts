import type { Client } from '@carillon/sdk'
import { useWrite } from './data.ts'
import { undoable } from './toast.ts'

/** Saves a new value, shows a toast, and offers Undo, which saves the former value again. */
export function useUndoableWrite<V>(write: (api: Client, value: V) => Promise<unknown>, changes: string[], message: string) {
  const save = useWrite(
    (api, { value }: { value: V; before?: V }) => write(api, value),
    changes,
    (_, { before }) => {
      if (before !== undefined) undoable(message, () => save.mutate({ value: before }))
    },
  )
  return save
}
