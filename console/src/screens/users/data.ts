import type { CarillonError, components } from '@carillon/sdk'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { keyOf } from '../../parts/data.ts'
import type { Paged } from '../../parts/paging.ts'
import type { Rule } from '../../parts/rules/rule.ts'
import type { ListRequest } from '../../parts/save-rows.ts'
import { useApi, useProject } from '../../session/project.tsx'
import type { UsersSearch } from './search.ts'

type User = components['schemas']['User']
/** The rule in words comes with the users who match it. */
type UserPage = Paged<User> & { description?: string }

const PATH = '/api/client/users'
const BY_RULE = '/api/client/users/search'
/** A request suppresses up to 100 addresses, and a user has two. */
const PAGE = 50

/** A page of users, most recently changed first: of all users, or of those who match the rule; and the request for the page. */
export function useUsers({ rule, ...search }: UsersSearch): { users: UseQueryResult<UserPage, CarillonError>; request: ListRequest } {
  const api = useApi()
  const { id } = useProject()
  const query = { ...search, limit: PAGE, sort: 'updated_at' as const, direction: 'desc' as const }
  const users = useQuery<UserPage, CarillonError>({
    queryKey: keyOf(id, PATH, { query, rule }),
    queryFn: ({ signal }) =>
      rule === undefined ? api.get(PATH, { query, signal }) : api.post(BY_RULE, { query, body: { rule: rule as unknown as Rule }, signal }),
    placeholderData: keepPreviousData,
  })
  return { users, request: rule === undefined ? { path: PATH, query } : { method: 'POST', path: BY_RULE, query, body: { rule } } }
}
