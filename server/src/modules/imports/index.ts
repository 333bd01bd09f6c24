/**
 * Imports of CSV files into static lists. Owns `imports`, `import_chunks`, `import_failures` and `import_dry_run_rows`. A file is stored
 * as it is received, then applied in batches: the rows of a batch and the position where it ends are one transaction. Promises: a row
 * takes effect once, even if a process dies in between; importing a file again changes nothing; and an import subscribes no user who
 * opted out.
 */
export { claimImportBatch, countFailedBatch, finishImportBatch, type ReadImport, readImport, saveImportedUsers } from './batch.ts'
export { IMPORT } from './job-names.ts'
export { importJobs } from './jobs.ts'
export { type DueImport, importsDue } from './queries.ts'
export { importRoutes } from './routes.ts'
