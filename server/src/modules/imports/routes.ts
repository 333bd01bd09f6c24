import { DownloadOf, route } from '../../infra/http/route.ts'
import type { ImportId, ListId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { importListing } from './queries.ts'
import { Import, ImportQuery } from './schema.ts'
import { cancelImport, downloadFailures, getImport, listImports, receiveFile, startImport } from './service.ts'

const ofList = { listId: pathId<ListId>() }
const ofImport = { ...ofList, importId: pathId<ImportId>() }

export const importRoutes = [
  route({
    method: 'POST',
    path: '/api/client/lists/{listId}/import',
    summary: 'Import a CSV file into a static list.',
    description:
      'The file is UTF-8 with a header line. It is stored as it comes and applied in the background, each row like an item of `POST /users/batch`; a bad one is reported and its neighbours are saved. An empty cell keeps what is known. The same file may be sent again: what is so already stays as it is.',
    access: { secret: 'editor' },
    params: ofList,
    query: ImportQuery,
    stream: {
      type: 'text/csv',
      bytesMax: (config) => config.IMPORT_BYTES_MAX,
      receive: (ctx, { params, query, stream }) => receiveFile(ctx, params.listId, query, stream),
    },
    reply: Import,
    status: 202,
    location: ({ id, list_id }) => `/api/client/lists/${list_id}/imports/${id}`,
    run: (ctx, { received }) => startImport(ctx, received),
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}/imports',
    summary: 'List the imports into a list.',
    access: { secret: 'support' },
    params: ofList,
    list: importListing,
    reply: Page(Import),
    run: (ctx, { params, page }) => listImports(ctx, params.listId, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}/imports/{importId}',
    summary: 'Read an import and how far it has come.',
    access: { secret: 'support' },
    params: ofImport,
    reply: Import,
    run: (ctx, { params }) => getImport(ctx, params.listId, params.importId),
  }),
  route({
    method: 'POST',
    path: '/api/client/lists/{listId}/imports/{importId}/cancel',
    summary: 'Stop an import where it is.',
    description: 'What was imported stays.',
    access: { secret: 'editor' },
    params: ofImport,
    reply: Import,
    run: (ctx, { params }) => cancelImport(ctx, params.listId, params.importId),
  }),
  route({
    method: 'GET',
    path: '/api/client/lists/{listId}/imports/{importId}/errors',
    summary: 'Download the rows that were refused.',
    description:
      'Each with its line in the file, an error code, what to do about it, and its cells as they were. Kept for 30 days; of one import at most the first 100,000. A cell that a spreadsheet would run as a formula begins with an apostrophe.',
    access: { secret: 'support' },
    params: ofImport,
    reply: DownloadOf('text/csv', 'The columns `line`, `code` and `message`, then those of the file.'),
    run: (ctx, { params }) => downloadFailures(ctx, params.listId, params.importId),
  }),
]
