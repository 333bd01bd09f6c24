/**
 * Imports of CSV files into static lists. Owns `imports`, `import_chunks`, `import_failures`, `import_changes` and
 * `import_dry_run_rows`. A file is stored
 * as it is received, then applied in batches: the rows of a batch and the position where it ends are one transaction. Promises: a row
 * takes effect once, even if a process dies in between; importing a file again changes nothing; an import subscribes no user who
 * opted out; and what it changed can be undone for 24 hours, except for what changed since.
 */
export { claimImportBatch, countFailedBatch, finishImportBatch, type ReadImport, readImport, saveImportedUsers } from './batch.ts'
export { importsWithRows } from './erased-rows.queries.ts'
export { eraseAnonymousRows, eraseRows } from './erased-rows.ts'
export { IMPORT, UNDO_IMPORT } from './job-names.ts'
export { importJobs } from './jobs.ts'
export { type DueImport, importsDue, nextImportAt, oldestImportPosition, unfinishedImports } from './queries.ts'
export { importRoutes } from './routes.ts'
export { importsOf } from './service.ts'
export { deleteChangesOf, type ImportToUndo, importsToUndo, nextUndoAt } from './undo.queries.ts'
export { claimUndo, undoChanges } from './undo.ts'
export { importStores } from './user-data.queries.ts'
