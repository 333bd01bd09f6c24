import type { StoredWebhookEvent } from '../webhook-events/index.ts'

/** The body of every attempt for this event, byte for byte the same (D-WH-3). */
export function payload({ id, type, occurred_at, project_id, is_test, data }: StoredWebhookEvent, apiVersion: string): string {
  const envelope = { id, type, timestamp: occurred_at, project_id, api_version: apiVersion, ...(is_test && { test: true }) }
  // The data is text already, and parsing it only to write it again could change it.
  return `${JSON.stringify(envelope).slice(0, -1)},"data":${data}}`
}
