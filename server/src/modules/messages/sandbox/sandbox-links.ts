/** The links of a captured message: which there are in its HTML, and what each is. Nothing is requested. */

import { readHtml } from '../../../lib/markup/html-reader.ts'
import { maskNothing } from '../../../lib/markup/liquid-mask.ts'
import { plainTextOfRendered } from '../../../lib/markup/plain-text.ts'
import { isLoopback } from '../../../lib/networks.ts'
import { lineCounter } from '../../../lib/text.ts'

export const SANDBOX_LINKS_MAX = 500
const TEXT_LENGTH_MAX = 100
const URL_LENGTH_MAX = 8000

export const LINK_KINDS = ['tracked', 'unsubscribe', 'preferences', 'view', 'web', 'app', 'email', 'phone', 'anchor', 'none'] as const
export type LinkKind = (typeof LINK_KINDS)[number]
export const LINK_PROBLEMS = ['empty', 'relative', 'script', 'syntax', 'loopback', 'insecure'] as const
export type LinkProblem = (typeof LINK_PROBLEMS)[number]

/** A link as it stands in HTML. */
export type WrittenLink = { url: string; text: string; line: number }

/** The links of rendered HTML in order, with their texts. */
export function linksIn(html: string): WrittenLink[] {
  const lineOf = lineCounter(html)
  const links: WrittenLink[] = []
  let open: { url: string; at: number; from: number } | null = null
  const close = (end: number) => {
    if (!open) return
    const text = plainTextOfRendered(html.slice(open.from, end)).replace(/\s+/g, ' ').trim().slice(0, TEXT_LENGTH_MAX)
    links.push({ url: open.url.slice(0, URL_LENGTH_MAX), text, line: lineOf(open.at) })
    open = null
  }
  for (const token of readHtml(maskNothing(html))) {
    if (links.length >= SANDBOX_LINKS_MAX) return links
    if (token.kind !== 'tag' || (token.name !== 'a' && token.name !== 'area')) continue
    const { begin, end } = token
    close(begin)
    const href = token.isEnd ? undefined : token.attributes.find(({ name }) => name === 'href')
    if (href) open = { url: href.value.trim(), at: begin, from: end }
    if (token.name === 'area') close(end)
  }
  close(html.length)
  return links
}

/** What is known of the links of this server. */
export type OwnLinks = {
  /** The base of its URLs, without a final slash. */
  base: string
  /** Where a tracked link leads; null if it is none of the project. */
  targetOf(url: string): string | null
}

/** What a link is, where it leads, and why it does not work for a recipient. */
export type JudgedLink = { kind: LinkKind; target: string | null; problem: LinkProblem | null }

const OWN_PAGES: [string, LinkKind][] = [
  ['/s/u/', 'unsubscribe'],
  ['/s/p/', 'preferences'],
  ['/v/', 'view'],
]

/** Judges a link. Links of this server are recognised by their kind; a tracked link is judged by its target. */
export function judgeLink(url: string, own: OwnLinks): JudgedLink {
  const page = OWN_PAGES.find(([path]) => url.startsWith(own.base + path))
  if (page) return { kind: page[1], target: null, problem: null }
  const target = own.targetOf(url)
  if (target !== null) return { kind: 'tracked', target, problem: judgeAddress(target).problem }
  return { target: null, ...judgeAddress(url) }
}

const SCHEMES: Record<string, LinkKind> = { mailto: 'email', tel: 'phone', sms: 'phone', http: 'web', https: 'web' }
const SCRIPTS = ['javascript', 'vbscript', 'data']

function judgeAddress(url: string): { kind: LinkKind; problem: LinkProblem | null } {
  if (url === '' || url === '#') return { kind: 'none', problem: 'empty' }
  if (url.startsWith('#')) return { kind: 'anchor', problem: null }
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase()
  if (scheme === undefined) return { kind: 'none', problem: 'relative' }
  if (SCRIPTS.includes(scheme)) return { kind: 'none', problem: 'script' }
  const kind = SCHEMES[scheme] ?? 'app'
  return { kind, problem: kind === 'web' ? webProblem(url) : kind === 'app' && url.length === scheme.length + 1 ? 'syntax' : null }
}

function webProblem(url: string): LinkProblem | null {
  // `https:example.com` is an address to a browser, but not to every mail program.
  if (!/^https?:\/\//i.test(url) || /[\s\p{Cc}\\]/u.test(url) || !URL.canParse(url)) return 'syntax'
  const { hostname, protocol } = new URL(url)
  if (isLocalHost(hostname.replace(/^\[|\]$/g, '').replace(/\.$/, ''))) return 'loopback'
  return protocol === 'http:' ? 'insecure' : null
}

const isLocalHost = (host: string) =>
  host === 'localhost' || host.endsWith('.localhost') || host === '0.0.0.0' || host === '::' || isLoopback(host)
