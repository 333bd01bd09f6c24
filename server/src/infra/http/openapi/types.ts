/** The part of OpenAPI 3.1 that we use. */
import type { ErrorCode } from '../../../lib/errors.ts'
import type { Access, Route } from '../route.ts'

/** JSON Schema 2020-12. Keywords that our code reads have a type; others are allowed. */
export type JsonSchema = {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  properties?: Record<string, JsonSchema>
  patternProperties?: Record<string, JsonSchema>
  additionalProperties?: boolean | JsonSchema
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  [keyword: string]: unknown
}

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: JsonSchema
  example?: unknown
}
export type Header = { description: string; schema: JsonSchema }
export type Media = { schema: JsonSchema; example?: unknown }
export type Reply = { description: string; headers?: Record<string, Header | Ref>; content?: Record<string, Media> }
export type Ref = { $ref: string }

export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  /** Who may call it: the kinds of key, and the lowest role of each. */
  'x-access': Access
  security: Record<string, string[]>[]
  parameters: (Parameter | Ref)[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, Reply | Ref>
  /** The error codes that this operation can reply with. */
  'x-errors': ErrorCode[]
}

export type Method = Lowercase<Route['method']>

/** A request that the server sends to a webhook endpoint. */
export type WebhookOperation = Pick<Operation, 'operationId' | 'tags' | 'summary' | 'description' | 'requestBody' | 'responses'> & {
  security: []
  parameters: Parameter[]
}

export type OpenApiDocument = {
  openapi: '3.1.1'
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: { url: string; description: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Partial<Record<Method, Operation>>>
  /** By event type. */
  webhooks: Record<string, { post: WebhookOperation }>
  components: {
    schemas: Record<string, JsonSchema>
    parameters: Record<string, Parameter>
    headers: Record<string, Header>
    responses: Record<string, Reply>
    securitySchemes: Record<string, Record<string, string>>
  }
}
