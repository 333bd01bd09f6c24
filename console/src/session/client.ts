import { type Client, createClient } from '@carillon/sdk'
import { ask } from './asking.ts'

/**
 * Creates a client for the member who is signed in. What is read is asked for again by the query client, and no write is repeated without the
 * member. An upload may take as long as it takes.
 */
export const openClient = (headers: Record<string, string> = {}): Client =>
  createClient({ headers, fetch: ask, maxRetries: 0, timeoutMs: Number.POSITIVE_INFINITY })
