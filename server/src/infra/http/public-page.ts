/**
 * A public page is an endpoint that needs no key: for users who follow a link in a message, and for callbacks of providers.
 * It declares why it needs no key. `serve-public-pages.ts` serves it, and limits the calls from each IP address.
 */
import type { Ctx } from '../runtime/ctx.ts'

/** The headers of a request, by lower-case name. A header that may be repeated can be a list. */
export type RequestHeaders = {
  readonly [name: string]: string | string[] | undefined
  'accept-language'?: string | undefined
  'content-type'?: string | undefined
  host?: string | undefined
  'user-agent'?: string | undefined
}

/** A request, without any validation. */
export type PublicRequest = {
  /** Path parameters by name, percent-decoded once. */
  params: Record<string, string>
  query: URLSearchParams
  headers: RequestHeaders
  body: Buffer
  /** Path and query as they were sent, because signatures cover them. */
  url: string
  /** Pages for GET also get `HEAD` requests, which must not count as opens or clicks. */
  method: string
  /** The IP address of the client, from trusted proxies if there are any. */
  address: string
  requestId: string
}

/** A reply. Without `type` it has no body. It is not cached unless `headers` allow it. */
export type PublicReply = { status: number; type?: string; body?: string | Buffer; headers?: Record<string, string> }

export type PublicPage = {
  method: 'GET' | 'POST'
  /** Such as `/u/{token}`. */
  path: `/${string}`
  summary: string
  /** Why no key is needed, and what protects the page instead. Printed in the access reference. */
  open: string
  /** Not rate-limited: proxies of mailbox providers call it for thousands of users from one address, and a call is cheap. */
  unlimited?: true
  /** Served while the server is overloaded too. */
  essential?: true
  /** The largest body; 64 KiB by default. */
  bytesMax?: number
  run: (ctx: Ctx, call: PublicRequest) => Promise<PublicReply>
}

/** Declares a public page. */
export const publicPage = (definition: PublicPage): PublicPage => definition
