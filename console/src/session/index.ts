import { CarillonError } from '@carillon/sdk'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { call, type ProjectRole, type Session, type SessionProject } from './api.ts'
import { sessionEnded } from './ended.ts'
import { keepInBrowser } from './keep.ts'
import { queryClient } from './query-client.ts'

const KEY = ['session']

/** Who is signed in; null if no member is. A session that ends stays known, so that the page does, with what was typed into it. */
export const sessionQuery = queryOptions({
  queryKey: KEY,
  queryFn: () =>
    call<Session>('GET', 'session').catch((error: unknown) => {
      if (!(error instanceof CarillonError && error.status === 401)) throw error
      const known = queryClient.getQueryData<Session | null>(KEY) ?? null
      if (known !== null) sessionEnded()
      return known
    }),
  staleTime: 60_000,
})

/** The session of a screen behind the sign-in. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery)
  if (data === null) throw new Error('This screen needs a session.')
  return data
}

/** Reads the session again, after it was begun, changed or ended. */
export const refreshSession = () => queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })

const LAST = 'carillon.project'

/** The project in the URL. */
export function projectOf(session: Session, id: number): SessionProject | undefined {
  return session.projects.find((project) => project.id === id)
}

/** The project that was open last in this browser, else the first. */
export function firstProject(session: Session): SessionProject | undefined {
  return projectOf(session, Number(localStorage.getItem(LAST))) ?? session.projects[0]
}

export const rememberProject = (id: number): void => void keepInBrowser(LAST, String(id))

const RANKS: ProjectRole[] = ['support', 'editor', 'publisher', 'admin']

/** Whether a role is at least as high as another one. */
export const atLeast = (role: ProjectRole, needed: ProjectRole): boolean => RANKS.indexOf(role) >= RANKS.indexOf(needed)
