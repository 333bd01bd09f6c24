/** The pages for developers: the start page, the OpenAPI document, the reference, the error catalogue and the guides. */
import type { OpenApiDocument } from '../infra/http/openapi.ts'
import type { StaticPage } from '../infra/http/static-pages.ts'
import { errorsPage } from './error-catalogue.ts'
import { guideIndex, guidePages } from './guides.ts'
import { CONTENT_SECURITY_POLICY } from './layout.ts'
import { referencePage } from './reference.ts'
import { startPage } from './start.ts'

export type Docs = {
  /** The release. */
  version: string
  /** Generates the API description. It is called once, at the first request for a page that shows it. */
  document: () => OpenApiDocument
  baseUrl: () => string
  /** Whether `/` is the console. Otherwise the start page is there too, and says how to build the console. */
  hasConsole: boolean
}

/** The pages. Each is generated at its first request. */
export function docsPages({ version, document, baseUrl, hasConsole }: Docs): StaticPage[] {
  let generated: OpenApiDocument | undefined
  // It takes half a second of the event loop.
  const description = () => (generated ??= document())
  return [
    ...[...(hasConsole ? [] : ['/']), '/docs/start'].map((url) => page(url, HTML, () => startPage(version, baseUrl(), hasConsole))),
    page('/openapi.json', 'application/json; charset=utf-8', () => JSON.stringify(description())),
    page('/docs', HTML, () => referencePage(description(), baseUrl())),
    page('/docs/errors', HTML, () => errorsPage(version, baseUrl())),
    page('/docs/guides', HTML, () => guideIndex(version)),
    ...guidePages(version),
  ]
}

const HTML = 'text/html; charset=utf-8'

const page = (url: string, type: string, write: () => string): StaticPage => ({
  url,
  type,
  contentSecurityPolicy: CONTENT_SECURITY_POLICY,
  write,
})
