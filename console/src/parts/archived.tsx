/** Archived campaigns, journeys and lists, and their way back. */
import type { Client } from '@carillon/sdk'
import { Button } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { useMay } from '../session/project.tsx'
import { useWrite } from './data.ts'
import type { Filter } from './filters.tsx'
import type { SavedColumn } from './save-rows.ts'
import { Time } from './time.tsx'
import { said } from './toast.ts'

export type ArchivableKind = 'campaign' | 'journey' | 'list'

const UNARCHIVE: Record<ArchivableKind, (api: Client, id: number) => Promise<unknown>> = {
  campaign: (api: Client, campaignId: number) => api.post('/api/client/campaigns/{campaignId}/unarchive', { path: { campaignId } }),
  journey: (api: Client, journeyId: number) => api.post('/api/client/journeys/{journeyId}/unarchive', { path: { journeyId } }),
  list: (api: Client, listId: number) => api.post('/api/client/lists/{listId}/unarchive', { path: { listId } }),
}

const CHANGES = {
  campaign: ['/api/client/campaigns', '/api/client/templates'],
  journey: ['/api/client/journeys'],
  list: ['/api/client/lists'],
}

/**
 * Restores an archived object, and shows a toast. If that fails, a toast says why, because a toast stays when the member leaves the page.
 */
export function useUnarchive(kind: ArchivableKind) {
  const { t } = useTranslation()
  return useWrite(
    (api, { id }: { id: number; name: string }) =>
      UNARCHIVE[kind](api, id).catch((error: Error) => {
        said(t('archived.failed', { message: error.message }))
        throw error
      }),
    CHANGES[kind],
    (_, { name }) => said(t('archived.restored', { name })),
  )
}

/** The filter of a list that shows its archived objects. */
export function useArchivedFilter(): Filter {
  const { t } = useTranslation()
  return { id: 'show', label: t('archived.filter'), values: [{ value: 'archived', label: t('archived.only') }] }
}

type Archived = { id: number; name: string; archived_at?: string | undefined }

/**
 * The columns that archived objects have: when they were archived, and the button that restores them. Only publishers restore what is more
 * than a draft.
 */
export function useArchivedColumns<T extends Archived>(kind: ArchivableKind, isDraft: (row: T) => boolean): SavedColumn<T>[] {
  const { t } = useTranslation()
  const [mayRestore, mayPublish] = [useMay('editor'), useMay('publisher')]
  const restore: SavedColumn<T> = {
    id: 'restore',
    label: t('archived.restore'),
    isUnlabelled: true,
    isNumber: true,
    isWide: true,
    cell: (row) => (mayPublish || isDraft(row)) && <Restore kind={kind} row={row} />,
  }
  return [
    {
      id: 'archived',
      label: t('archived.at'),
      isNumber: true,
      isExtra: true,
      text: ({ archived_at }) => archived_at ?? '',
      cell: ({ archived_at }) => archived_at && <Time at={archived_at} />,
    },
    ...(mayRestore ? [restore] : []),
  ]
}

function Restore({ kind, row: { id, name } }: { kind: ArchivableKind; row: Archived }) {
  const { t } = useTranslation()
  const restore = useUnarchive(kind)
  return (
    <Button
      size="xs"
      variant="default"
      loading={restore.isPending}
      aria-label={t('archived.restoreOf', { name })}
      onClick={() => restore.mutate({ id, name })}
    >
      {t('archived.restore')}
    </Button>
  )
}
