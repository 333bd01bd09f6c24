import { type Paging, pagingOf, textOf } from '../../parts/paging.ts'
import { type Period, periodOf } from '../../parts/period.ts'

export const ACTORS = ['member', 'key', 'system'] as const
export const WAYS = ['console', 'api', 'cli', 'system'] as const

/** The kinds of objects that the log has entries of. */
export const OBJECTS = [
  'attribute',
  'campaign',
  'domain',
  'import',
  'journey',
  'key',
  'list',
  'mail_queue',
  'mail_site',
  'member',
  'message',
  'page_theme',
  'project',
  'provider',
  'sending_policy',
  'subscription',
  'suppression',
  'template',
  'template_attachment',
  'warm_up',
  'webhook',
] as const

/** The filters, which are members of the address. */
export type Filters = {
  actor_type?: (typeof ACTORS)[number]
  actor_id?: string
  object_type?: string
  object_id?: string
  action?: string
  via?: (typeof WAYS)[number]
  period?: Period
}

/** The address of the log: the filters, the page, and the entry that is open beside it. */
export type AuditSearch = Filters & Paging & { entry?: number }

/** Reads the search parameters of the URL. An id without its kind is left out, because the API would refuse it. */
export function auditSearchOf(search: Record<string, unknown>): AuditSearch {
  const actor_type = ACTORS.find((name) => name === search.actor_type)
  const via = WAYS.find((name) => name === search.via)
  const period = periodOf(search.period)
  const [action, object_type] = [textOf(search.action), textOf(search.object_type)]
  const actor_id = actor_type && textOf(search.actor_id)
  const object_id = object_type && textOf(search.object_id)
  return {
    ...pagingOf(search),
    ...(actor_type && { actor_type }),
    ...(actor_id && { actor_id }),
    ...(object_type && { object_type }),
    ...(object_id && { object_id }),
    ...(action && { action }),
    ...(via && { via }),
    ...(period && { period }),
    ...(typeof search.entry === 'number' && { entry: search.entry }),
  }
}
