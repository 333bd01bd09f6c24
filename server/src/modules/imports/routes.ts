import { audits } from '../../infra/http/audited.ts'
import { DownloadOf, route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ImportId, ListId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { CHARSETS } from './encoding.ts'
import { importListing } from './queries.ts'
import { Import, ImportQuery, ImportWithFirstRows } from './schema.ts'
import { cancelImport, downloadFailures, getImport, listImports, receiveFile, startImport, undoImport } from './service.ts'

const ofList = { listId: pathId<ListId>() }
const ofImport = { ...ofList, importId: pathId<ImportId>() }

const importAudit = audits('import', {
  keyOf: ({ params }, reply) => {
    const importId = (params.importId ?? (reply as Import | undefined)?.id) as ImportId | undefined
    return importId === undefined ? undefined : { listId: params.listId as ListId, importId }
  },
  idOf: ({ importId }) => String(importId),
  read: (ctx: ProjectCtx, { listId, importId }) => getImport(ctx, listId, importId),
  // Rows of the file are of users.
  ignored: ['first_rows', 'progress'],
})

export const importRoutes = [
  route({
    method: 'POST',
    path: '/api/client/lists/{listId}/import',
    summary: 'Import a CSV file into a static list.',
    description:
      'The file is text with a header line, in UTF-8, UTF-16 or Windows-1252. It is stored, and imported in the background. Each row is applied like an item of `POST /users/batch`: an invalid row is reported, and the others are saved. A row without ids is matched by its email address or, if it has none, by its phone number, provided that exactly one user has it. An empty cell keeps the stored value, and so does a missing one at the end of a row. The same file can be imported again: rows with no changes are left alone. The file of refused rows can be corrected and imported without further changes.',
    access: { secret: 'editor' },
    audit: importAudit('started'),
    params: ofList,
    query: ImportQuery,
    stream: {
      type: 'text/csv',
      bytesMax: (config) => config.IMPORT_BYTES_MAX,
      charsets: CHARSETS,
      receive: (ctx, { params, query, ...body }) => receiveFile(ctx, params.listId, query, body),
    },
    reply: Import,
    status: 202,
    location: ({ id, list_id }) => `/api/client/lists/${list_id}/imports/${id}`,
    run: (ctx, { received }) => startImport(ctx, received),
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}/imports',
    summary: 'List the imports of a list.',
    description: 'Newest first.',
    access: { secret: 'support' },
    params: ofList,
    list: importListing,
    reply: Page(Import),
    run: (ctx, { params, page }) => listImports(ctx, params.listId, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}/imports/{importId}',
    summary: 'Read an import and its progress.',
    description: 'Read it again until `state` is `finished`, `failed` or `cancelled`.',
    access: { secret: 'support' },
    params: ofImport,
    reply: ImportWithFirstRows,
    run: (ctx, { params }) => getImport(ctx, params.listId, params.importId),
  }),
  route({
    method: 'POST',
    path: '/api/client/lists/{listId}/imports/{importId}/cancel',
    summary: 'Cancel an import.',
    description: 'The rows imported so far are kept. Undo the import to remove them.',
    access: { secret: 'editor' },
    audit: importAudit('cancelled'),
    params: ofImport,
    reply: Import,
    run: (ctx, { params }) => cancelImport(ctx, params.listId, params.importId),
  }),
  route({
    method: 'POST',
    path: '/api/client/lists/{listId}/imports/{importId}/undo',
    summary: 'Undo an import.',
    description:
      'An import can be undone for 24 hours after it ended. The work is done in the background. Users that the import created are removed with their data. A created user stays if, since the import, their profile has changed, another user was merged into them, or they got events, devices, consent entries or another static list. Values that it changed are restored, members that it added leave the list, and subscriptions that it stored are removed. Later changes stay, as do ids that the import linked and users that it merged.',
    access: { secret: 'editor' },
    audit: importAudit('undone'),
    params: ofImport,
    reply: Import,
    status: 202,
    run: (ctx, { params }) => undoImport(ctx, params.listId, params.importId),
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}/imports/{importId}/errors',
    summary: 'Download the refused rows.',
    description:
      'Each row has its line in the file, an error code, a message, and its original cells; those of attributes that the key may not read are empty. Rows are kept for 30 days, at most the first 100,000 of an import. A cell that a spreadsheet would run as a formula gets an apostrophe at the start.',
    access: { secret: 'support' },
    params: ofImport,
    reply: DownloadOf('text/csv', 'The columns `line`, `code` and `message`, then the columns of the file.'),
    run: (ctx, { params }) => downloadFailures(ctx, params.listId, params.importId),
  }),
]
