import type { Client } from '@carillon/sdk'
import type { ComponentProps } from 'react'
import { Confirm } from './confirm.tsx'
import { useWrite } from './data.ts'
import { said, undoable } from './toast.ts'

type Props = Omit<ComponentProps<typeof Confirm>, 'isPending' | 'error' | 'onConfirm'> & {
  write: (api: Client) => Promise<unknown>
  /** The paths that are read again afterwards. */
  changes: string[]
  /** What to say when it is done. */
  done: string
  /** Undoes it, for as long as the toast is there. */
  onUndo?: () => Promise<unknown>
  /** Leaves a page whose subject is gone, without a question about what is not saved of it. Without it, this question is closed. */
  leave?: () => Promise<void>
}

/** Asks before a write, does it, and says that it is done, with an Undo where there is one. */
export function ConfirmWrite({ write, changes, done, onUndo, leave, ...asked }: Props) {
  const change = useWrite(
    async (api) => {
      await write(api)
      // Before anything is read again: the page would find nothing.
      await leave?.()
    },
    changes,
    () => {
      if (!leave) asked.onClose()
      if (onUndo) undoable(done, onUndo)
      else said(done)
    },
  )
  return <Confirm {...asked} isPending={change.isPending} error={change.error} onConfirm={() => change.mutate(undefined)} />
}
