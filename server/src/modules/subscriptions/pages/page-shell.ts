/** The frame of every hosted page: brand, language, and security headers. */
import { createHash } from 'node:crypto'
import type { PublicReply, PublicRequest } from '../../../infra/http/public-page.ts'
import { channels } from '../../../lib/channels.ts'
import { Html, html } from '../../../lib/html.ts'
import { acceptedLocales, languageFor } from '../../../lib/languages.ts'
import { directionOf, normaliseLocale } from '../../../lib/locales.ts'
import type { Evidence } from '../consents/schema.ts'
import type { PageTheme } from '../theme/schema.ts'
import { styleWith } from './style.ts'
import * as registry from './words/index.ts'
import type { Words } from './words/words.ts'

const languages = { ...registry }

/** The language, texts and theme of a page. */
export type PageShell = { language: keyof typeof languages; words: Words; brand: string; theme: PageTheme }

const PLAIN: PageTheme = { brand_name: null, logo_url: null, accent_color: null, footer_text: null }

/** The project of a page. */
export type Owner = { name: string; locale: string; theme: PageTheme }

/** Creates the shell, in the language of the user, else of the project, else of the browser. */
export const shellOf = (call: PublicRequest, owner: Owner | null, userLocale: string | null): PageShell =>
  shellIn([userLocale, owner?.locale, ...acceptedLocales(call.headers['accept-language'])], owner)

/** Creates the shell in the language of the first of these locales whose language is available. */
export function shellIn(locales: (string | null | undefined)[], owner: Owner | null): PageShell {
  const language = languageFor(locales, languages)
  const theme = owner?.theme ?? PLAIN
  return { language, words: languages[language], brand: theme.brand_name ?? owner?.name ?? '', theme }
}

/** Fills names into a text. */
export const filled = ({ language, brand }: PageShell, text: string, type = ''): string =>
  text.replace(/\{(brand|type)\}/g, (_, name: string) => isolated(name === 'brand' ? brand : type, directionOf(language)))

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

/** A name of the other direction, isolated so that the sentence around it keeps its order (U+2068, U+2069). */
const isolated = (name: string, direction: 'ltr' | 'rtl'): string =>
  direction === 'rtl' || RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name

export type PageContent = { title: string; heading: string; body: Html; notice?: string }

/** Renders a page. */
export function renderPage(shell: PageShell, status: number, { title, heading, body, notice }: PageContent): PublicReply {
  const { language, brand, theme } = shell
  const style = styleWith(theme.accent_color)
  const page = html`<!doctype html>
<html lang="${normaliseLocale(language)}"${directionOf(language) === 'rtl' && html` dir="rtl"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}${brand !== '' && ` · ${brand}`}</title>
<style>${new Html(style.css)}</style>
</head>
<body>
${brand !== '' && html`<header class="brand">${theme.logo_url ? html`<img src="${theme.logo_url}" alt="${brand}">` : isolated(brand, directionOf(language))}</header>`}
<main>
${notice !== undefined && html`<p role="status" tabindex="-1" autofocus>${notice}</p>`}
<h1>${heading}</h1>
${body}
</main>
${theme.footer_text !== null && html`<footer><bdi>${theme.footer_text}</bdi></footer>`}
</body>
</html>
`
  return { status, type: 'text/html; charset=utf-8', body: page.text, headers: headersWith(style.hash) }
}

const headersWith = (styleHash: string) => ({
  'content-security-policy': [
    "default-src 'none'",
    `style-src '${styleHash}'`,
    'img-src https:',
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
})

/** A page with a heading and a sentence. */
export const textPage = (shell: PageShell, status: number, { heading, text }: { heading: string; text: string }): PublicReply =>
  renderPage(shell, status, { title: heading, heading, body: html`<p>${text}</p>` })

/** The page for a link whose signature is wrong. */
export function invalid(call: PublicRequest): PublicReply {
  const shell = shellOf(call, null, null)
  return textPage(shell, 404, shell.words.invalid)
}

export const removed = (shell: PageShell): PublicReply => textPage(shell, 200, shell.words.removed)

const versions = new Map(
  Object.entries(languages).map(([language, words]) => {
    const headings = Object.values(channels).map(({ heading }) => heading?.[language as keyof typeof languages])
    const hash = createHash('sha256').update(JSON.stringify([words, headings]))
    return [language, `${language}@${hash.digest('hex').slice(0, 8)}`]
  }),
)

const USER_AGENT_LENGTH_MAX = 500

/** The proof of a choice: where the request came from and, if there was a page, the version of its texts. */
export function evidenceOf(
  { headers, address, requestId }: PublicRequest,
  source: Evidence['source'],
  { shell, messageId = null }: { shell?: PageShell; messageId?: number | null },
): Evidence {
  const userAgent = headers['user-agent']?.slice(0, USER_AGENT_LENGTH_MAX).toWellFormed()
  return {
    source,
    ...(shell && { wording: `${source}/${versions.get(shell.language)}` }),
    proof: {
      ip: address,
      ...(userAgent !== undefined && { user_agent: userAgent }),
      request_id: requestId,
      ...(messageId !== null && { message_id: messageId }),
    },
  }
}
