import { sql } from '../../infra/postgres/db.ts'
import { type UserStore, userStore } from '../../infra/postgres/user-data.ts'

/** Anonymous ids, which an erasure removes at once. */
export const anonymousIdStore = userStore('anonymous_ids', 'user_anonymous_ids', ({ projectId }) => ({
  from: sql`user_anonymous_ids a`,
  where: sql`a.project_id = ${projectId}`,
  user: sql`a.user_id`,
  select: sql`a.user_id, a.anonymous_id, a.linked_at`,
  key: [{ column: sql`a.anonymous_id`, type: 'text' }],
}))

/** What this module stores about users. Push tokens are credentials, and are in no reply. */
export const userStores: UserStore[] = [
  userStore('profiles', 'users', ({ projectId }) => ({
    from: sql`users u`,
    where: sql`u.project_id = ${projectId}`,
    user: sql`u.id`,
    select: sql`u.id, u.external_id, u.anonymous_id, u.email, u.phone, u.timezone, u.locale, u.data, u.created_at, u.updated_at, u.merged_into,
      u.merged_at`,
    key: [{ column: sql`u.id`, type: 'bigint' }],
    pageRows: 50,
  })),
  anonymousIdStore,
  userStore('devices', 'devices', ({ projectId }) => ({
    from: sql`devices d`,
    where: sql`d.project_id = ${projectId}`,
    user: sql`d.user_id`,
    select: sql`d.user_id, d.device_id, d.os, d.os_version, d.model, d.app_build, d.app_version, d.token is not null as has_token, d.created_at,
      d.updated_at`,
    key: [{ column: sql`d.id`, type: 'bigint' }],
  })),
]
