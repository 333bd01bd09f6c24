import type { CarillonError } from '@carillon/sdk'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { consoleKey } from '../../parts/console-data.ts'
import type { Paged } from '../../parts/paging.ts'
import { call, type OrganisationRole, type Session } from '../../session/api.ts'

/** `smtpproxy` can only submit email, so it is for keys more than for members; the API takes it all the same. */
export const PROJECT_ROLES = ['support', 'editor', 'publisher', 'admin', 'smtpproxy'] as const
export type MemberRole = (typeof PROJECT_ROLES)[number]

export type Member = {
  id: number
  email: string
  name: string
  role: OrganisationRole
  projects: { project_id: number; role: MemberRole }[]
  is_invited: boolean
  has_totp: boolean
  has_passkey: boolean
  active_at: string | null
}

export type Invitation = Member & { invitation_url: string; is_mailed: boolean }

/** The members of the organisation, who are all on one page. */
export const useTeam = (): UseQueryResult<Paged<Member>, CarillonError> =>
  useQuery<Paged<Member>, CarillonError>({
    queryKey: consoleKey('members'),
    queryFn: async () => ({ ...(await call<{ results: Member[] }>('GET', 'members')), nextCursor: null, prevCursor: null }),
  })

/** The roles in the organisation that a member may give. Only owners make owners. */
export const rolesToGive = ({ role }: Session): OrganisationRole[] =>
  role === 'owner' ? ['member', 'admin', 'owner'] : ['member', 'admin']

/** Whether the session may change a member. Only owners change owners. */
export const mayChange = ({ role }: Session, member: Member): boolean => role === 'owner' || (role === 'admin' && member.role !== 'owner')
