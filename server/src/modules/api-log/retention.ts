import { type Store, store } from '../../infra/queue/retention.ts'
import { deleteRequests, nextRequests } from './queries.ts'

/** Requests that are older than the setting says, of projects that make few. */
export const requestStore: Store = store({
  name: 'api_requests',
  days: ({ API_LOG_RETENTION_DAYS }) => API_LOG_RETENTION_DAYS,
  nextRows: nextRequests,
  async remove(ctx, requests) {
    const ids = requests.map(({ id }) => id)
    await deleteRequests(ctx, ids)
    return ids
  },
})
