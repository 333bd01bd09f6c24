import type { StoredWebhookEvent } from '../webhook-events/index.ts'

/** The body of the requests for an event. Every attempt sends the same bytes (D-WH-3). */
export function payload({ id, type, occurred_at, project_id, is_test, data }: StoredWebhookEvent, apiVersion: string): string {
  const envelope = { id, type, timestamp: occurred_at, project_id, api_version: apiVersion, ...(is_test && { test: true }) }
  // `data` is stored as text. Parsing and formatting it again could change it.
  return `${JSON.stringify(envelope).slice(0, -1)},"data":${data}}`
}
