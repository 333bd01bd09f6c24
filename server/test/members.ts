/** Members of the organisation of a world, signed in to the console. */
import type { MemberId } from '../src/lib/ids.ts'
import type { OrganisationRole, Role } from '../src/lib/roles.ts'
import { hashPassword, insertMember } from '../src/modules/members/index.ts'
import { select } from './select.ts'
import type { Reply, Tenant, World } from './world.ts'

/** That of the samples in the API reference. */
export const PASSWORD = 'anvil lantern meadow kettle'

export type Member = { id: MemberId; email: string; headers: Record<string, string> }

/** The headers of a page of the console, with the cookie of a reply. */
export const pageWith = (reply: Reply): Record<string, string> => ({
  cookie: String(reply.headers['set-cookie']).split(';')[0] as string,
  'sec-fetch-site': 'same-origin',
})

export const signIn = (w: World, email: string, password = PASSWORD, more: object = {}): Promise<Reply> =>
  w.post('/api/console/sign-in', { email, password, ...more }, { key: null })

let members = 0

/** A member with a role in the organisation, and perhaps one in the project, who has signed in. */
export async function member(w: World, role: OrganisationRole, projectRole?: Role, tenant: Tenant = w): Promise<Member> {
  const email = `${role}-${++members}@example.com`
  const passwordHash = await hashPassword(w.ctx, PASSWORD)
  const made = await insertMember(w.ctx, {
    organisationId: tenant.organisationId,
    email,
    name: `A ${role}`,
    role,
    passwordHash,
    joinedAt: w.clock.now(),
  })
  const id = made?.id as MemberId
  if (projectRole) await select(w, `insert into member_roles values (${tenant.projectId}, ${id}, '${projectRole}')`)
  const reply = await signIn(w, email)
  if (reply.status !== 200) throw new Error(`The member cannot sign in: ${reply.text}`)
  return { id, email, headers: pageWith(reply) }
}
