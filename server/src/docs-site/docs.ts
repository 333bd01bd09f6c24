/** The pages for developers: the start page, the OpenAPI document, the reference, the error catalogue and the guides. */
import type { OpenApiDocument } from '../infra/http/openapi.ts'
import type { StaticPage } from '../infra/http/static-pages.ts'
import { errorsPage } from './error-catalogue.ts'
import { guideIndex, guidePages } from './guides.ts'
import { CONTENT_SECURITY_POLICY } from './layout.ts'
import { referencePage } from './reference.ts'
import { startPage } from './start.ts'

export type Docs = {
  document: () => OpenApiDocument
  baseUrl: () => string
  /** Whether `/` is the console. Otherwise the start page is there too, and says how to build the console. */
  hasConsole: boolean
}

/** The pages. Each is generated at its first request. */
export const docsPages = ({ document, baseUrl, hasConsole }: Docs): StaticPage[] => [
  ...[...(hasConsole ? [] : ['/']), '/docs/start'].map((url) =>
    page(url, HTML, () => startPage(document().info.version, baseUrl(), hasConsole)),
  ),
  page('/openapi.json', 'application/json; charset=utf-8', () => JSON.stringify(document())),
  page('/docs', HTML, () => referencePage(document(), baseUrl())),
  page('/docs/errors', HTML, () => errorsPage(document().info.version, baseUrl())),
  page('/docs/guides', HTML, () => guideIndex(document().info.version)),
  ...guidePages(() => document().info.version),
]

const HTML = 'text/html; charset=utf-8'

const page = (url: string, type: string, write: () => string): StaticPage => ({
  url,
  type,
  contentSecurityPolicy: CONTENT_SECURITY_POLICY,
  write,
})
