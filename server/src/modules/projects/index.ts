/**
 * Organisations and their projects. Owns `organisations` and `projects`. A project is the wall between tenants:
 * every statement of every other module names one. Promises: a project is seen by its own organisation alone.
 */
export { findFirstProject, insertOrganisation, lockBootstrap } from './queries.ts'
export { projectRoutes } from './routes.ts'
export type { Project, ProjectInput, ProjectRow } from './schema.ts'
export { findProject, inProject, insertProject, presentProject, requireProjectRoom } from './service.ts'
