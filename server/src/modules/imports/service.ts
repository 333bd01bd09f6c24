import { createHash, type Hash } from 'node:crypto'
import { mapPage, type PageOf, type PageRequest } from '../../infra/http/paging.ts'
import type { BodyStream, Download, Received } from '../../infra/http/route.ts'
import { takePosition } from '../../infra/queue/erasing.ts'
import { inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { lockRoom } from '../../infra/runtime/room.ts'
import { ApiError, fault, faultsError, missing } from '../../lib/errors.ts'
import type { ImportId, ListId } from '../../lib/ids.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { findList } from '../lists/index.ts'
import { knownSubscriptions } from '../subscriptions/index.ts'
import { hiddenKeysOf } from '../users/index.ts'
import { type Column, isUnderKey } from './columns.ts'
import { rowCounter } from './count-rows.ts'
import { encodingOfCharset } from './encoding.ts'
import { readFailures } from './failures.queries.ts'
import { failureHeader, failureLines, visibleFailure } from './failures.ts'
import { visibleRow } from './first-rows.ts'
import type { Heading } from './heading.ts'
import { IMPORT, UNDO_IMPORT } from './job-names.ts'
import { type ImportOptions, optionsOf } from './options.ts'
import * as queries from './queries.ts'
import type { Import, ImportQuery, ImportRow, ImportWithFirstRows } from './schema.ts'
import { readHeading } from './tasks.ts'
import { requestUndo } from './undo.queries.ts'
import { chunksOf } from './upload.ts'

const UNFINISHED_MAX = 20

/** Locales in which dates are written with the month first. */
const MONTH_FIRST = /^en(?:-Latn)?(?:-US)?$/

/** A stored file whose import is not queued yet. */
export type Upload = Received & { id: ImportId; sha256: string; rows: number }

/**
 * Stores a file while it is received. Throws 404 and 422 before reading it, 400 and 422 for a faulty header line, and 400 for content that
 * is not text. After a failure, nothing stays stored.
 */
export async function receiveFile(
  ctx: ProjectCtx,
  listId: ListId,
  query: ImportQuery,
  { stream, charset }: { stream: BodyStream; charset: string | undefined },
): Promise<Upload> {
  await requireStaticList(ctx, listId)
  const options = optionsOf(query)
  await checkSubscriptions(ctx, options)
  await requireRoom(ctx)
  const hash = createHash('sha256')
  const chunks = chunksOf(hashed(stream, hash), options.encoding ?? encodingOfCharset(charset))
  const first = await chunks.next()
  if (first.done) throw fault('parameter_missing', 'body', 'The file is empty.')
  const heading = await headingOf(ctx, first.value, options)
  const id = await inTx(ctx, async (ctx) => {
    await lockRoom(ctx, 'imports', ctx.projectId)
    await requireRoom(ctx)
    return queries.insertImport(ctx, listId, heading, options)
  })
  const discard = async () => {
    await queries.discardUpload(ctx, id)
  }
  try {
    const rows = await storeChunks(ctx, id, heading, first.value, chunks)
    return { id, sha256: hash.digest('hex'), rows, [Symbol.asyncDispose]: discard }
  } catch (error) {
    await discard()
    throw error
  }
}

/** Throws 429 if the project has the maximum number of unfinished imports, uploads included. */
async function requireRoom(ctx: ProjectCtx): Promise<void> {
  if ((await queries.countUnfinished(ctx)) < UNFINISHED_MAX) return
  throw new ApiError(
    'quota_exceeded',
    `A project may have at most ${UNFINISHED_MAX} unfinished imports. Wait for one to finish, or cancel one.`,
  )
}

/** Passes the bytes on and adds them to a hash. */
async function* hashed(stream: BodyStream, hash: Hash): AsyncGenerator<Buffer, void, undefined> {
  for await (const bytes of stream) {
    hash.update(bytes)
    yield bytes
  }
}

async function headingOf(ctx: ProjectCtx, chunk: Buffer, { mapping, delimiter, dryRun }: ImportOptions): Promise<Heading> {
  const options = { mapping, delimiter, guess: dryRun, monthFirst: MONTH_FIRST.test(ctx.project.locale) }
  const outcome = await ctx.threads.run(ctx, readHeading, { chunk, options })
  if ('exceeded' in outcome) throw fault('validation_failed', 'body', `The header line cannot be read, because ${outcome.exceeded}.`)
  if ('faults' in outcome.value) throw faultsError(outcome.value.faults)
  return outcome.value
}

/** Stores the file and returns the number of its rows. */
async function storeChunks(
  ctx: ProjectCtx,
  id: ImportId,
  { delimiter, position }: Heading,
  first: Buffer,
  others: AsyncIterable<Buffer>,
): Promise<number> {
  const countRows = rowCounter(delimiter)
  let rows = countRows(first.subarray(position))
  await queries.insertChunk(ctx, id, 0, first)
  let no = 1
  for await (const chunk of others) {
    rows = countRows(chunk)
    await queries.insertChunk(ctx, id, no++, chunk)
  }
  return rows
}

async function requireStaticList(ctx: ProjectCtx, listId: ListId): Promise<void> {
  const list = await requireList(ctx, listId)
  if (list.type !== 'static') {
    throw fault(
      'validation_failed',
      'listId',
      'Users cannot be imported into a dynamic list, because its rule decides its members. Choose a static list.',
    )
  }
}

async function requireList(ctx: ProjectCtx, listId: ListId) {
  const list = await findList(ctx, listId)
  if (!list) throw missing('list')
  return list
}

async function checkSubscriptions(ctx: ProjectCtx, { subscriptionIds }: ImportOptions): Promise<void> {
  if (subscriptionIds.length === 0) return
  const known = new Set((await knownSubscriptions(ctx, subscriptionIds, false)).map(({ id }) => id))
  const unknown = subscriptionIds.filter((id) => !known.has(id))
  if (unknown.length > 0) {
    throw fault(
      'validation_failed',
      'subscription_ids',
      `\`subscription_ids\` contains ids that are not subscription types of this project: ${unknown.join(', ')}. Remove or correct them.`,
    )
  }
}

/** Queues the import of a stored file. */
export async function startImport(ctx: ProjectCtx, { id, ...file }: Upload): Promise<Import> {
  const row = await queries.queueImport(ctx, id, { ...file, position: await takePosition(ctx) })
  if (!row) throw new Error('The upload was deleted before its import was queued.')
  ctx.wake(IMPORT)
  return present(row)
}

/** The imports among these ids, as they are when they are watched. */
export const importsOf = async (ctx: ProjectCtx, ids: ImportId[]): Promise<Import[]> => (await queries.findImports(ctx, ids)).map(present)

export async function listImports(ctx: ProjectCtx, listId: ListId, page: PageRequest): Promise<PageOf<Import>> {
  await requireList(ctx, listId)
  return mapPage(await queries.listImports(ctx, listId, page), present)
}

/** Throws 404. */
export async function getImport(ctx: ProjectCtx, listId: ListId, id: ImportId): Promise<ImportWithFirstRows> {
  const row = await requireImport(ctx, listId, id)
  const firstRows = row.dry_run ? (await queries.readFirstRows(ctx, id))?.first_rows : null
  if (!firstRows) return present(row)
  const hidden = new Set(await hiddenKeysOf(ctx))
  return { ...present(row), first_rows: firstRows.map((first) => visibleRow(first, hidden)) }
}

async function requireImport(ctx: ProjectCtx, listId: ListId, id: ImportId): Promise<ImportRow> {
  const row = await queries.findImport(ctx, listId, id)
  if (!row) throw missing('import')
  return row
}

/** Cancels an import. The rows imported so far are kept. Throws 404, and 422 if the import has ended. */
export async function cancelImport(ctx: ProjectCtx, listId: ListId, id: ImportId): Promise<Import> {
  const stopped = await queries.cancelImport(ctx, listId, id)
  if (stopped) return present(stopped)
  const row = await requireImport(ctx, listId, id)
  if (row.state !== 'cancelled') throw fault('validation_failed', 'importId', 'The import has already ended and cannot be cancelled.')
  return present(row)
}

const UNDO_HOURS = 24

/** Requests that an import be undone in the background. Throws 404, and 422 unless it ended within the last 24 hours. */
export async function undoImport(ctx: ProjectCtx, listId: ListId, id: ImportId): Promise<Import> {
  const { state, dry_run } = await requireImport(ctx, listId, id)
  if (dry_run) throw fault('validation_failed', 'importId', 'A dry run changed nothing, so there is nothing to undo.')
  if (state === 'queued' || state === 'running') {
    throw fault('validation_failed', 'importId', 'The import has not ended. Cancel it, and then undo it.')
  }
  const requested = await requestUndo(ctx, id, new Date(ctx.clock.now().getTime() - UNDO_HOURS * HOUR_MS))
  const row = await requireImport(ctx, listId, id)
  if (requested === 0 && row.state !== 'undoing' && row.state !== 'undone') {
    throw fault('validation_failed', 'importId', `The import ended more than ${UNDO_HOURS} hours ago, and can no longer be undone.`)
  }
  ctx.wake(UNDO_IMPORT)
  return present(row)
}

/** A row may have 256 KiB, and the event loop writes what is read at once. */
const FAILURES_AT_ONCE = { rowsMax: 100, bytesMax: 1024 ** 2 }

/** The refused rows as a file, without the cells of attributes that the caller may not see. Throws 404. */
export async function downloadFailures(ctx: ProjectCtx, listId: ListId, id: ImportId): Promise<Download> {
  const { columns } = await requireImport(ctx, listId, id)
  const own = columns.filter(({ added }) => !added)
  const hidden = new Set(await hiddenKeysOf(ctx))
  const isHidden = own.map((column) => isUnderKey(column, hidden))
  return { filename: `import-${id}-errors.csv`, parts: failuresOf(ctx, id, own, isHidden) }
}

async function* failuresOf(ctx: ProjectCtx, id: ImportId, columns: Column[], isHidden: boolean[]): AsyncGenerator<string> {
  yield failureHeader(columns.map(({ header }) => header))
  let line = 0
  while (true) {
    const failures = await readFailures(ctx, id, line, FAILURES_AT_ONCE)
    const last = failures.at(-1)
    if (!last) return
    yield failureLines(failures.map((failure) => visibleFailure(failure, isHidden)))
    line = last.line
  }
}

/** The share of the rows that were processed. It is 0 until the first rows were, and 1 only when the import has ended. */
function progressOf({ state, position, bytes, rows, rows_total }: ImportRow): number {
  if (state === 'queued') return 0
  if (position === bytes) return 1
  // Imports of earlier releases have no number of rows.
  const share = rows_total === null ? position / bytes : rows / rows_total
  return Math.min(PROGRESS_BEFORE_END, Math.floor(1000 * share) / 1000)
}

const PROGRESS_BEFORE_END = 0.999

function present(row: ImportRow): Import {
  const { columns, position: _, ...shown } = row
  return {
    ...shown,
    mapping: Object.fromEntries(columns.map(({ header, field }) => [header, field])),
    guesses: Object.fromEntries(columns.flatMap(({ header, guesses }) => (guesses ? [[header, guesses]] : []))),
    columns: columns.map(({ header }) => header),
    progress: progressOf(row),
  }
}
