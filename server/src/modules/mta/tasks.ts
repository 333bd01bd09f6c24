/** What worker threads do for the mail engine: reports come from anywhere, so that reading one may take any time. */
import { task } from '../../infra/threads/task.ts'
import { readReport } from './reports/read-report.ts'
import type { MailReport } from './reports/schema.ts'

/** Reads a report that came by email. */
export const readMailReport = task({
  name: 'mta.readMailReport',
  run: (_tools, _shared: null, content: Uint8Array): Promise<MailReport> => readReport(content),
})
