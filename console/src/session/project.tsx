import { type Client, createClient } from '@carillon/sdk'
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import type { ProjectRole, SessionProject } from './api.ts'
import { atLeast } from './index.ts'

type Current = { project: SessionProject; api: Client }

const ProjectContext = createContext<Current | null>(null)

/** Makes a project, and a client of the API for it, known to its screens. */
export function ProjectProvider({ project, children }: { project: SessionProject; children: ReactNode }) {
  const current = useMemo(() => ({ project, api: createClient({ headers: { 'carillon-project': String(project.id) } }) }), [project])
  return <ProjectContext value={current}>{children}</ProjectContext>
}

function useCurrent(): Current {
  const current = useContext(ProjectContext)
  if (current === null) throw new Error('This part needs a project.')
  return current
}

/** The project of the address. */
export const useProject = (): SessionProject => useCurrent().project

/** The client of the API, for the project of the address. */
export const useApi = (): Client => useCurrent().api

/** Whether the member may do what needs this role. What one may not do is not shown. */
export const useMay = (needed: ProjectRole): boolean => atLeast(useCurrent().project.role, needed)
