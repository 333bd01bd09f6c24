import type { Client } from '@carillon/sdk'
import { useQuery } from '@tanstack/react-query'
import { keyOf as queryKeyOf } from '../../parts/data.ts'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { useOpened } from '../../parts/opened.ts'
import { useApi, useProject } from '../../session/project.tsx'
import { keyOf, QUEUE, type Recipient } from './search.ts'

const RECIPIENTS_SHOWN = 100
const UNFINISHED = ['waiting', 'paused', 'delivering']

/**
 * The recipient that is open. One that has left the page, as once its email was delivered or cancelled, is read by itself until it has a
 * result.
 */
export function useOpenedRecipient(rows: Recipient[] | undefined, open: string | undefined): Recipient | undefined {
  const api = useApi()
  const { id } = useProject()
  const { opened, isShown } = useOpened(rows, (recipient) => keyOf(recipient) === open)
  const { data } = useQuery({
    queryKey: queryKeyOf(id, QUEUE, { opened: open }),
    queryFn: ({ signal }) => (opened ? findAgain(api, opened, signal) : null),
    enabled: opened !== undefined && !isShown,
    refetchInterval: ({ state: { data } }) => (data === undefined || (data && UNFINISHED.includes(data.state)) ? 5 * LIVE_MS : false),
  })
  return isShown || data === undefined ? opened : (data ?? undefined)
}

/** Finds a recipient in whichever state it is by now; null if it is no longer kept. Throws what the requests throw. */
async function findAgain(api: Client, opened: Recipient, signal: AbortSignal): Promise<Recipient | null> {
  const query = { message_id: String(opened.message_id), q: opened.recipient, limit: RECIPIENTS_SHOWN }
  const { results } = await api.get(QUEUE, { query, signal })
  return results.find((recipient) => keyOf(recipient) === keyOf(opened)) ?? null
}
