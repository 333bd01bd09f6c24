/**
 * Organisations and their projects. Owns `organisations` and `projects`. Projects separate tenants: every statement of every other
 * module names one. Promises: only its own organisation can see a project.
 */
export {
  findFirstProject,
  findOrganisation,
  insertOrganisation,
  isFirstOrganisation,
  lockBootstrap,
  type OwnedProject,
  projectsOf,
  renameOrganisation,
} from './queries.ts'
export { projectRoutes } from './routes.ts'
export type { Project, ProjectInput, ProjectRow } from './schema.ts'
export { contextOf, findProject, inEachProject, inProject, insertProject, presentProject, requireProjectRoom } from './service.ts'
