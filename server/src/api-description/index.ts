/**
 * The API description of the product: what the routes say, with the words that they do not. The same text is served at `/openapi.json`
 * and printed to `server/openapi.json`.
 */
import { type OpenApiDocument, openApiDocument } from '../infra/http/openapi.ts'
import type { Route } from '../infra/http/route.ts'
import { providerComponents } from '../modules/channels/index.ts'
import { stepComponents } from '../modules/journeys/index.ts'
import { ruleComponents } from '../modules/rules/index.ts'
import { ConsentProof } from '../modules/subscriptions/index.ts'
import { templateComponents } from '../modules/templates/index.ts'
import { EXAMPLES, OPERATION_EXAMPLES, PATH_EXAMPLES } from './examples/index.ts'
import { GROUPS } from './groups.ts'
import { memberOf } from './members.ts'
import { webhooks } from './webhooks.ts'

type Options = { routes: readonly Route[]; version: string; baseUrl?: string }

/** Describes the API of these routes. */
export const apiDescription = (options: Options): OpenApiDocument =>
  openApiDocument({
    ...options,
    words: {
      groups: GROUPS,
      memberOf,
      examples: EXAMPLES,
      parameters: PATH_EXAMPLES,
      operations: OPERATION_EXAMPLES,
      webhooks: webhooks(),
      schemas: { ...ruleComponents, ...templateComponents, ...stepComponents, ...providerComponents, ConsentProof },
    },
  })
