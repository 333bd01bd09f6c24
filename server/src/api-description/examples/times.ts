/** The times of the examples, in order. */
export const CREATED = '2026-11-20T02:56:21.664Z'
export const CHANGED = '2026-11-21T22:10:05.120Z'
export const SENT = '2026-11-23T22:00:00.412Z'
export const OPENED = '2026-11-23T22:14:37.095Z'
export const CLICKED = '2026-11-23T22:14:52.803Z'

/** Members that every resource has. */
export const of = (id: number) => ({ id, project_id: 1 })
export const since = { created_at: CREATED, updated_at: CREATED }
