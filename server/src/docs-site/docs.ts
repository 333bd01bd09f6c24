/** The pages for developers: the OpenAPI document, the reference and the error catalogue. */
import type { OpenApiDocument } from '../infra/http/openapi.ts'
import type { StaticPage } from '../infra/http/static-pages.ts'
import { errorsPage } from './error-catalogue.ts'
import { CONTENT_SECURITY_POLICY } from './layout.ts'
import { referencePage } from './reference.ts'

export type Docs = {
  document: () => OpenApiDocument
  baseUrl: () => string
}

/** The pages. Each is generated at its first request. */
export const docsPages = ({ document, baseUrl }: Docs): StaticPage[] => [
  page('/openapi.json', 'application/json; charset=utf-8', () => JSON.stringify(document())),
  page('/docs', 'text/html; charset=utf-8', () => referencePage(document(), baseUrl())),
  page('/docs/errors', 'text/html; charset=utf-8', () => errorsPage(document().info.version, baseUrl())),
]

const page = (url: string, type: string, write: () => string): StaticPage => ({
  url,
  type,
  contentSecurityPolicy: CONTENT_SECURITY_POLICY,
  write,
})
