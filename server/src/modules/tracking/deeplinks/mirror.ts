/** Cached copies of the files by which an app claims links, fetched from the origin of the app. */
import { LRUCache } from 'lru-cache'
import type { Ctx } from '../../../infra/runtime/ctx.ts'

const FRESH_MS = 300_000
const TIMEOUT_MS = 5000
const CONNECT_TIMEOUT_MS = 3000
/** The limit of Apple and Google. */
const BYTES_MAX = 131_072
const COPIES_MAX = 1000

/** `body` is the last valid copy; null if there was none. */
type Copy = { body: string | null; fetchedAtMs: number; fetching: Promise<void> | null }

export type Mirror = {
  /** Returns the file at a URL, at most five minutes old. Returns an older copy if it cannot be fetched, or null without a copy. */
  read(ctx: Ctx, url: string): Promise<string | null>
}

/** Creates a mirror without copies. */
export function createMirror(): Mirror {
  const copies = new LRUCache<string, Copy>({ max: COPIES_MAX })
  return {
    async read(ctx, url) {
      const copy = copies.get(url) ?? { body: null, fetchedAtMs: Number.NEGATIVE_INFINITY, fetching: null }
      copies.set(url, copy)
      if (Math.abs(ctx.clock.now().getTime() - copy.fetchedAtMs) >= FRESH_MS) {
        copy.fetching ??= refresh(ctx, url, copy)
        await copy.fetching
      }
      return copy.body
    },
  }
}

async function refresh(ctx: Ctx, url: string, copy: Copy): Promise<void> {
  try {
    copy.body = (await fetchJson(ctx, url)) ?? copy.body
    copy.fetchedAtMs = ctx.clock.now().getTime()
  } finally {
    copy.fetching = null
  }
}

/** Fetches the file. Null if it is not JSON, also because it was truncated at the limit. */
async function fetchJson(ctx: Ctx, url: string): Promise<string | null> {
  const answer = await ctx.fetch.request({
    method: 'GET',
    url,
    headers: { accept: 'application/json' },
    timeoutMs: TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    responseBytesMax: BYTES_MAX,
  })
  return answer.is === 'answered' && answer.status === 200 && isJson(answer.body) ? answer.body : null
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}
