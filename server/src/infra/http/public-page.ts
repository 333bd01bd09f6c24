/**
 * A page is an endpoint for those who hold no key: a person who follows a link out of a message, a vendor who reports back.
 * It says itself why it may be open; `http/pages.ts` serves it, with a limit on calls from one address.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Ctx } from '../runtime/ctx.ts'

/** A request as it came. Nothing in it was checked. */
export type PublicRequest = {
  /** Path parameters by name, percent-decoded once. */
  params: Record<string, string>
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Buffer
  /** Path and query as they were sent: signatures cover it. */
  url: string
  /** `HEAD` comes to pages for GET too: nothing may count as seen by it. */
  method: string
  /** Who is calling, as far as trusted proxies tell. */
  address: string
  requestId: string
}

/** What is answered. Without `type` there is no body. Pages are never stored by anybody unless `headers` say otherwise. */
export type PublicReply = { status: number; type?: string; body?: string | Buffer; headers?: Record<string, string> }

export type PublicPage = {
  method: 'GET' | 'POST'
  /** Such as `/u/{token}`. */
  path: `/${string}`
  summary: string
  /** Why nobody has to show a key: what protects it instead. Printed in the access reference. */
  open: string
  /** Proxies of mail programs call it for thousands of people from one address, and a call costs next to nothing. */
  unlimited?: true
  /** Longest body; 64 KiB unless said otherwise. */
  bytesMax?: number
  run: (ctx: Ctx, call: PublicRequest) => Promise<PublicReply>
}

/** Declares a page. */
export const publicPage = (definition: PublicPage): PublicPage => definition
