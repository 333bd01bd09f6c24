import type { Client } from '@carillon/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import type { ProjectRole, SessionProject } from './api.ts'
import { openClient } from './client.ts'
import { atLeast } from './index.ts'
import { keepingLastWrite } from './last-write.ts'

type Current = { project: SessionProject; api: Client }

const ProjectContext = createContext<Current | null>(null)

/** Makes a project, and a client of the API for it, known to its screens. */
export function ProjectProvider({ project, children }: { project: SessionProject; children: ReactNode }) {
  const { language } = useTranslation().i18n
  const current = useMemo(() => ({ project, api: clientOf(project.id, language) }), [project, language])
  useInAnotherLanguage(language)
  return <ProjectContext value={current}>{children}</ProjectContext>
}

const clientOf = (projectId: number, language: string) =>
  keepingLastWrite(openClient({ 'carillon-project': String(projectId), 'accept-language': language }))

/** Reads everything again when the language changes: the server describes rules, steps and providers in it. */
function useInAnotherLanguage(language: string) {
  const client = useQueryClient()
  const before = useRef(language)
  useEffect(() => {
    if (before.current === language) return
    before.current = language
    void client.invalidateQueries()
  }, [client, language])
}

function useCurrent(): Current {
  const current = useContext(ProjectContext)
  if (current === null) throw new Error('This part needs a project.')
  return current
}

/** The project in the URL. */
export const useProject = (): SessionProject => useCurrent().project

/** The client of the API, for the project in the URL. */
export const useApi = (): Client => useCurrent().api

/** Whether the member has this role or a higher one. Actions that a member may not do are not shown. */
export const useMay = (needed: ProjectRole): boolean => atLeast(useCurrent().project.role, needed)
