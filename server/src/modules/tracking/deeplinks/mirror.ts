/** Copies of the files by which an app says which links are its own, as the origin of the app publishes them. */
import { LRUCache } from 'lru-cache'
import type { Ctx } from '../../../infra/runtime/ctx.ts'

const FRESH_MS = 300_000
const TIMEOUT_MS = 5000
const CONNECT_TIMEOUT_MS = 3000
/** What Apple and Google accept. */
const BYTES_MAX = 131_072
const COPIES_MAX = 1000

/** `body` is the last copy that was good; null when there never was one. */
type Copy = { body: string | null; asked: number; asking: Promise<void> | null }

export type Mirror = {
  /** The file at a URL, at most five minutes old; an older one when there is no better, null when there is none. */
  read(ctx: Ctx, url: string): Promise<string | null>
}

/** Opens a mirror with an empty memory. */
export function createMirror(): Mirror {
  const copies = new LRUCache<string, Copy>({ max: COPIES_MAX })
  return {
    async read(ctx, url) {
      const copy = copies.get(url) ?? { body: null, asked: Number.NEGATIVE_INFINITY, asking: null }
      copies.set(url, copy)
      if (Math.abs(ctx.clock.now().getTime() - copy.asked) >= FRESH_MS) {
        copy.asking ??= renew(ctx, url, copy)
        await copy.asking
      }
      return copy.body
    },
  }
}

async function renew(ctx: Ctx, url: string, copy: Copy): Promise<void> {
  try {
    copy.body = (await fetchJson(ctx, url)) ?? copy.body
    copy.asked = ctx.clock.now().getTime()
  } finally {
    copy.asking = null
  }
}

/** The text of the file, when it is JSON. One that was cut off at the limit is none. */
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
