import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import { IdOf, Nullable } from '../../../lib/shapes.ts'
import { isLiveRow } from '../queries.ts'
import { type DeviceInput, DeviceRow } from '../schema.ts'

/** The most devices of a user that a push message is sent to. */
const TARGETS_MAX = 20

const Target = Type.Object({ user_id: IdOf<UserId>(), device_id: Type.String(), os: Nullable(Type.String()), token: Type.String() })

/** The devices with a token of these users, latest seen first. */
export const pushDevicesOf = (ctx: ProjectCtx, userIds: UserId[]) =>
  ctx.db.many(
    Target,
    sql`select d.user_id, d.device_id, d.os, d.token
        from (select user_id, device_id, os, token, row_number() over (partition by user_id order by updated_at desc, id desc) as place
              from devices
              where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[]) and token is not null) d
        where d.place <= ${TARGETS_MAX}
        order by d.user_id, d.place`,
  )

const Owner = Type.Object({ user_id: IdOf<UserId>() })

/** Takes these tokens from their devices. Returns the users. */
export const clearTokens = (ctx: InTx, tokens: string[]) =>
  ctx.db.many(
    Owner,
    sql`with held as (
          select id from devices
          where project_id = ${ctx.projectId} and token = any(${tokens}::text[])
          order by id
          for update
        )
        update devices d
        set token = null, updated_at = ${ctx.clock.now()}
        where d.project_id = ${ctx.projectId} and d.id = any(array(select id from held))
        returning d.user_id`,
  )

const DeviceOfUser = Type.Object({ ...DeviceRow.properties })

export const listDevices = (ctx: ProjectCtx, id: UserId) =>
  ctx.db.many(
    DeviceOfUser,
    sql`select device_id, os, os_version, model, app_build, app_version, token is not null as has_token, created_at, updated_at
        from devices where project_id = ${ctx.projectId} and user_id = ${id} order by id`,
  )

const UserDeviceRow = Type.Object({
  user_id: IdOf<UserId>(),
  os: Nullable(Type.String()),
  os_version: Nullable(Type.String()),
  model: Nullable(Type.String()),
  app_build: Nullable(Type.String()),
  app_version: Nullable(Type.String()),
})

/** The devices of several users. */
export const devicesOf = (ctx: ProjectCtx, ids: UserId[]) =>
  ctx.db.many(
    UserDeviceRow,
    sql`select user_id, os, os_version, model, app_build, app_version from devices
        where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[]) order by id`,
  )

/** A device as it is registered. An absent member keeps the value that the user registered, and null clears it. */
export type SavedDevice = Omit<DeviceInput, 'external_id' | 'anonymous_id'>

/**
 * Registers a device. A token or device of another user moves to this one. A device moves without its values: else whoever names it would get
 * the messages on it without knowing its token.
 */
export const upsertDevice = (ctx: InTx, id: UserId, device: SavedDevice) => {
  const isNew = (value: unknown) => sql`${value !== undefined} or d.user_id <> excluded.user_id`
  return ctx.db.run(
    sql`insert into devices as d (project_id, user_id, device_id, token, os, os_version, model, app_build, app_version, created_at, updated_at)
        values (${ctx.projectId}, ${id}, ${device.device_id}, ${device.token ?? null}, ${device.os ?? null}, ${device.os_version ?? null},
                ${device.model ?? null}, ${device.app_build ?? null}, ${device.app_version ?? null}, ${ctx.clock.now()}, ${ctx.clock.now()})
        on conflict (project_id, device_id) do update
        set user_id = excluded.user_id, updated_at = excluded.updated_at,
            token = case when ${isNew(device.token)} then excluded.token else d.token end,
            os = case when ${isNew(device.os)} then excluded.os else d.os end,
            os_version = case when ${isNew(device.os_version)} then excluded.os_version else d.os_version end,
            model = case when ${isNew(device.model)} then excluded.model else d.model end,
            app_build = case when ${isNew(device.app_build)} then excluded.app_build else d.app_build end,
            app_version = case when ${isNew(device.app_version)} then excluded.app_version else d.app_version end`,
  )
}

/** Waits until no other transaction registers a device with this token. */
export const lockToken = (ctx: InTx, token: string) =>
  ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`token of a device ${token}`}, ${ctx.projectId}))`)

/** Takes a token from any other device that has it. */
export const releaseToken = (ctx: InTx, token: string, deviceId: string) =>
  ctx.db.many(
    Owner,
    sql`update devices set token = null, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and token = ${token} and device_id <> ${deviceId}
        returning user_id`,
  )

/** The current user of a device. Locks the device. */
export const ownerOfDevice = (ctx: InTx, deviceId: string) =>
  ctx.db.first(Owner, sql`select user_id from devices where project_id = ${ctx.projectId} and device_id = ${deviceId} for update`)

/** The users of these devices, and of those with one of these tokens. */
export const findOwners = async (ctx: InTx, deviceIds: string[], tokens: string[]): Promise<UserId[]> => {
  const rows = await ctx.db.many(
    Owner,
    sql`select user_id from devices where project_id = ${ctx.projectId} and device_id = any(${deviceIds}::text[])
        union
        select user_id from devices where project_id = ${ctx.projectId} and token = any(${tokens}::text[])`,
  )
  return rows.map(({ user_id }) => user_id)
}

const LockedOwner = Type.Object({ id: IdOf<UserId>(), is_live: Type.Boolean() })

/** Locks users against being merged or erased, and against other changes of their devices; always in the same order. Returns those who are live. */
export const lockOwners = async (ctx: InTx, ids: UserId[]): Promise<UserId[]> => {
  const rows = await ctx.db.many(
    LockedOwner,
    sql`select u.id, ${isLiveRow} as is_live from users u
        where u.project_id = ${ctx.projectId} and u.id = any(${ids}::bigint[])
        order by u.id
        for no key update`,
  )
  return rows.flatMap(({ id, is_live }) => (is_live ? [id] : []))
}

const FlaggedRow = Type.Object({ id: IdOf<UserId>() })

/**
 * Sets `has_push_device` of locked users from their devices. Returns those where it was different. A separate statement from the one that
 * locks them: it must see what that waited for.
 */
export const refreshPushFlag = (ctx: InTx, ids: UserId[]) =>
  ctx.db.many(
    FlaggedRow,
    sql`update users u
        set has_push_device = f.has, updated_at = ${ctx.clock.now()}
        from (select i.id, exists (select 1 from devices d where d.user_id = i.id and d.project_id = ${ctx.projectId} and d.token is not null) as has
              from unnest(${ids}::bigint[]) as i(id)) f
        where u.id = f.id and u.project_id = ${ctx.projectId} and u.has_push_device <> f.has
        returning u.id`,
  )
