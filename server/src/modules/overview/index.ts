/**
 * What the console shows across modules: the state of a project, a search by name, and the timeline and the reachability of a user. Owns no
 * tables; each part is what its module says. Promises: it shows nothing that the caller could not read by itself.
 */
export { overviewRoutes } from './routes.ts'
