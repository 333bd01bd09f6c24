/**
 * What the operators of a server see in the console: the release, the database, the queues, the processes and the room on disk. Owns no tables.
 * Promises: it shows no secret, no setting that could hold one, and nothing of a project.
 */
export { systemRoutes } from './routes.ts'
export type { QueueDepth } from './schema.ts'
