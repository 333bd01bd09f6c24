/** The requests of sign-in and of the account. They belong to the console and are not part of the API. */
import { jsonOf, readReply } from '@carillon/sdk'
import { ask } from './asking.ts'

export type OrganisationRole = 'member' | 'admin' | 'owner'
export type ProjectRole = 'support' | 'editor' | 'publisher' | 'admin'

export type SessionProject = {
  id: number
  name: string
  role: ProjectRole
  environment: 'sandbox' | 'live'
  has_faults: boolean
  locale: string
  timezone: string
}

export type Session = {
  id: number
  member: { id: number; email: string; name: string }
  organisation: { id: number; name: string }
  role: OrganisationRole
  projects: SessionProject[]
  expires_at: string
}

/** When the session ends. */
export type SessionEnd = { expires_at: string; latest_expires_at: string; remaining_seconds: number }

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Calls an endpoint of the console. */
export async function call<T>(method: Method, path: string, body?: object): Promise<T> {
  const asked = ask(`/api/console/${path}`, {
    method,
    redirect: 'manual',
    headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { reply, text } = await readReply(asked)
  return (text === '' ? null : jsonOf(reply, text)) as T
}
