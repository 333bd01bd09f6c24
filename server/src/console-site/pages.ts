/** What the console may load and do in a browser, and where it is (D-CON-30, D-CON-31). */
import { createHash } from 'node:crypto'
import type { NoncePage } from '../infra/http/built-files.ts'
import type { StaticPage } from '../infra/http/static-pages.ts'

/** The place of the nonce in the built page (`console/vite.config.ts`). */
const PLACE = '__NONCE__'

/** Paths that the console draws itself. Every other path of the server answers as if there were no console. */
const CONSOLE_PATHS = [
  '/',
  '/sign-in',
  '/sign-in/callback',
  '/lost-password',
  '/reset-password',
  '/accept-invitation',
  '/account',
  '/account/*',
  '/p/*',
]

const consolePolicy = (nonce: string) =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "font-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

/** The page of the console, with a new nonce in each reply. */
export const consoleSite = (html: string): NoncePage => ({
  urls: CONSOLE_PATHS,
  write: (nonce) => html.replaceAll(PLACE, nonce),
  contentSecurityPolicy: consolePolicy,
})

/**
 * Draws what the console sends. It takes messages from the page around it only, scripts and links in them do nothing, and pictures may be
 * left out.
 */
const PREVIEW_SCRIPT = `
const tell = () => parent.postMessage({ height: document.documentElement.scrollHeight }, '*')
addEventListener('message', ({ source, data }) => {
  if (source !== parent || typeof data?.html !== 'string') return
  const drawn = new DOMParser().parseFromString(data.html, 'text/html')
  for (const element of drawn.querySelectorAll('script, base, meta[http-equiv]')) element.remove()
  if (!data.hasImages) for (const image of drawn.querySelectorAll('img, source')) { image.removeAttribute('src'); image.removeAttribute('srcset') }
  drawn.documentElement.style.colorScheme = data.isDark ? 'dark' : 'light'
  document.replaceChild(document.adoptNode(drawn.documentElement), document.documentElement)
  for (const image of document.images) image.addEventListener('load', tell)
  new ResizeObserver(tell).observe(document.documentElement)
  tell()
})
addEventListener('click', (event) => { if (event.target.closest?.('a, area')) event.preventDefault() }, true)
addEventListener('submit', (event) => event.preventDefault(), true)
parent.postMessage('ready', '*')
`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Has an origin of its own: what is drawn there cannot read the console, and runs no script but ours. */
const PREVIEW_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  `script-src ${hashOf(PREVIEW_SCRIPT)}`,
  "style-src 'unsafe-inline' https:",
  'font-src https: data:',
  'img-src https: http: data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

/** The frame for previews of emails and in-app messages. */
export const previewPage: StaticPage = {
  url: '/console/preview',
  type: 'text/html; charset=utf-8',
  contentSecurityPolicy: PREVIEW_POLICY,
  write: () =>
    `<!doctype html><html lang="en-AU"><head><meta charset="utf-8"><title>Preview</title></head><body><script>${PREVIEW_SCRIPT}</script></body></html>`,
}
