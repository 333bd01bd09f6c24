import type { Client } from '@carillon/sdk'
import type { ReactNode } from 'react'
import { type ArchivableKind, useUnarchive } from './archived.tsx'
import { ConfirmWrite } from './confirm-write.tsx'

const ARCHIVE: Record<ArchivableKind, (api: Client, id: number) => Promise<unknown>> = {
  campaign: (api: Client, campaignId: number) => api.delete('/api/client/campaigns/{campaignId}', { path: { campaignId } }),
  journey: (api: Client, journeyId: number) => api.delete('/api/client/journeys/{journeyId}', { path: { journeyId } }),
  list: (api: Client, listId: number) => api.delete('/api/client/lists/{listId}', { path: { listId } }),
}

type Props = {
  kind: ArchivableKind
  object: { id: number; name: string }
  isOpen: boolean
  onClose: () => void
  title: string
  action: string
  done: string
  changes: string[]
  leave?: () => Promise<void>
  /** What becomes of it. */
  children: ReactNode
}

/** Archives a campaign, a journey or a list, and offers to restore it. */
export function Archive({ kind, object, leave, ...asked }: Props) {
  const restore = useUnarchive(kind)
  return (
    <ConfirmWrite
      {...asked}
      write={(api) => ARCHIVE[kind](api, object.id)}
      {...(leave && { leave })}
      // Restoring says itself why it is refused.
      onUndo={() => restore.mutateAsync(object).catch(() => undefined)}
    />
  )
}
