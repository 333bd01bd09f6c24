/**
 * CSV files into static lists. Owns `imports`, `import_chunks`, `import_failures` and `import_dry_run_rows`.
 * A file is stored as it comes, then applied in batches: a batch of rows and the place where it ends are one transaction.
 * Promises: a row takes effect once whoever dies on the way, a file that is imported twice changes nothing the second time,
 * and nobody who opted out is subscribed by it.
 */
export { importJobs } from './jobs.ts'
export { importRoutes } from './routes.ts'
