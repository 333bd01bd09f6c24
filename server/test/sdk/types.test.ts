/** The client is TypeScript: programs of its users compile with it, on any platform, and what the API does not have does not compile. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { temporaryDir } from '../child-server.ts'

const SDK = fileURLToPath(new URL('../../../sdk/src/index.ts', import.meta.url))
const TYPES = fileURLToPath(new URL('../../../node_modules/@types', import.meta.url))

const PROGRAM = `
import { bufferEvents, createClient, each, verifyWebhook } from '${SDK}'

const client = createClient({ timeoutMs: 5_000 })

export async function valid(): Promise<string | null> {
  for await (const user of each(client, '/api/client/users', { query: { q: 'kim', limit: 100 } })) if (user.email) return user.email
  for await (const { state } of each(client, '/api/client/users/{userId}/subscriptions', { path: { userId: 'kim' } })) if (state === 1) return 'kim'
  const { body, requestId, headers } = await client.get('/api/client/lists/{listId}', { path: { listId: 1 }, timeoutMs: 1 }).withResponse()
  const nothing: null = await client.delete('/api/client/lists/{listId}', { path: { listId: body.id }, idempotencyKey: 'once' })
  const events = bufferEvents(client, { onRefused: (refused) => refused.map(({ event, error }) => [event.name, error.code]) })
  events.track({ name: 'signed_up', external_id: 'kim' })
  const event = await verifyWebhook('{}', new Headers(), ['whsec_new', 'whsec_old'])
  if (event.type === 'delivery.null-mx') return event.data.domain ?? null
  return nothing ?? requestId ?? headers.get('x-request-id') ?? body.name
}

export async function invalid(): Promise<void> {
  // @ts-expect-error This path has no list with pages.
  each(client, '/api/client/lists/{listId}', { path: { listId: 1 } })
  // @ts-expect-error The user is missing.
  each(client, '/api/client/users/{userId}/subscriptions')
  // @ts-expect-error Users are not sorted by this.
  each(client, '/api/client/users', { query: { sort: 'height' } })
  // @ts-expect-error An event has a name.
  bufferEvents(client, { onRefused: () => undefined }).track({ external_id: 'kim' })
  // @ts-expect-error What is refused must not be overlooked.
  bufferEvents(client, {})
  const event = await verifyWebhook('{}', {}, 'whsec_1')
  // @ts-expect-error There is no such type.
  if (event.type === 'delivery.lost') return
}
`

test.each<[string, string[], string[]]>([
  ['a browser', ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], []],
  ['Node', ['lib.es2023.d.ts'], ['node']],
])('a program compiles with the client under the strictest options, with the types of %s', async (_, lib, types) => {
  await using folder = await temporaryDir()
  const file = join(folder.path, 'program.ts')
  await writeFile(file, PROGRAM)
  const program = ts.createProgram([file], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib,
    types,
    typeRoots: [TYPES],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noImplicitOverride: true,
    noUnusedLocals: true,
    noFallthroughCasesInSwitch: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    isolatedModules: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  })
  const faults = ts.getPreEmitDiagnostics(program).map(({ messageText, file, start }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0
    return `${file?.fileName}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
  })
  expect(faults).toEqual([])
})
