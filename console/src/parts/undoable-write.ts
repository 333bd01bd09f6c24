import type { Client } from '@carillon/sdk'
import { useWrite } from './data.ts'
import { merge } from './merge.ts'
import { undoable } from './toast.ts'

/** An object of which an endpoint takes everything at once, and what it replies. */
type Whole<V, T> = { read: (api: Client) => Promise<V>; write: (api: Client, value: V) => Promise<T> }

/** What a member has made of what was there. */
type Change<V> = { value: V; before: V; isUndo?: true }

/**
 * Saves what a member has changed, over what others have saved meanwhile, shows a toast, and offers Undo, which takes back only that. `onSaved`
 * is given the value that the member made, and what is stored now.
 */
export function useUndoableWrite<V, T>(
  { read, write }: Whole<V, T>,
  changes: string[],
  message: string,
  onSaved?: (sent: V, saved: T) => void,
) {
  const save = useWrite(
    async (api, { value, before }: Change<V>): Promise<T> => write(api, merge(before, value, await read(api)).value),
    changes,
    (saved, { value, before, isUndo }) => {
      onSaved?.(value, saved)
      if (!isUndo) undoable(message, () => save.mutateAsync({ value: before, before: value, isUndo: true }))
    },
  )
  return save
}
