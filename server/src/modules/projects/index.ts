/**
 * Organisations and their projects. Owns `organisations` and `projects`. Projects separate tenants: every statement of every other
 * module names one. Promises: only its own organisation can see a project,
 * and a deleted one is not seen at all.
 */

export { nextErasureAt } from './deletion.queries.ts'
export { beginDeletion, eraseNextProject } from './deletion.ts'
export { claimAlone, eachAlone, eachFoundAlone, eachProjectAlone, failedIn, ofProject, onItsOwn } from './each-alone.ts'
export { ERASE_PROJECTS } from './job-names.ts'
export {
  findFirstProject,
  findNamedProject,
  findOrganisation,
  insertOrganisation,
  isFirstOrganisation,
  lockBootstrap,
  type OwnedProject,
  projectsOf,
  renameOrganisation,
} from './queries.ts'
export { projectRoutes } from './routes.ts'
export { type Project, type ProjectInput, type ProjectRow, type ProjectSize, USERS_COUNTED_MAX } from './schema.ts'
export { contextOf, findProject, inEachProject, inProject, insertProject, presentProject, requireProjectRoom } from './service.ts'
