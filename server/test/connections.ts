/**
 * The connections of grounds. The ground that is opened next takes over those of the one that was closed last: a new connection plans every
 * statement again, which takes longer than most tests.
 */
import { type Database, openDatabase } from '../src/infra/postgres/db.ts'

type OnStatement = (elapsedMs: number) => void

/** Disposing of it closes or leaves the connections. */
type Connections = AsyncDisposable & { db: Database }

const CONNECTIONS_MAX = 12

/** Opens connections that are closed in the end. */
export function openConnections(url: string, onStatement: OnStatement, connectionsMax = CONNECTIONS_MAX): Connections {
  const db = openDatabase({ url, connectionsMax, name: 'test', checkRows: true, onStatement })
  return { db, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() }
}

type Kept = Connections & { url: string; onStatement: OnStatement }

let spare: Kept | undefined

/** Takes the connections that the last ground left, or opens some. */
export function takeConnections(url: string, onStatement: OnStatement): Connections {
  const found = spare
  spare = undefined
  const kept = found?.url === url ? found : openKept(url)
  if (kept !== found) void found?.[Symbol.asyncDispose]()
  kept.onStatement = onStatement
  return { db: kept.db, [Symbol.asyncDispose]: () => leave(kept) }
}

function openKept(url: string): Kept {
  const kept: Kept = {
    ...openConnections(url, (elapsedMs) => kept.onStatement(elapsedMs)),
    url,
    onStatement: () => undefined,
  }
  return kept
}

async function leave(kept: Kept): Promise<void> {
  if (spare) await kept[Symbol.asyncDispose]()
  else spare = kept
}
