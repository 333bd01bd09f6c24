import { rowsOf } from './statements.ts'
import type { World } from './world.ts'

/** Runs a statement of a test in the database of a world. */
export const select = (w: World, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  rowsOf(w.databaseUrl, text, values)
