import { Type } from 'typebox'
import { hasLiquid } from '../../../lib/liquid.ts'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { templateKind } from './template.ts'

const Headers = Type.Record(Type.String({ pattern: '^[!#$%&\'*+.^_`|~0-9A-Za-z-]{1,255}$' }), Type.String({ maxLength: 4096, format: 'no-control' }), {
  additionalProperties: false,
  maxProperties: 50,
})

export const webhook = templateKind({
  shape: Exact({
    method: Type.Optional(OneOf(['POST', 'PUT', 'PATCH', 'GET', 'DELETE'], { description: '`POST` when absent.' })),
    endpoint: Line(2048, { format: 'no-control', description: 'The address that is called.' }),
    headers: Type.Optional(Headers),
    body: Type.Optional(Type.String({ maxLength: 100_000 })),
  }),
  html: [],
  check: ({ endpoint }) =>
    hasLiquid(endpoint) || isWebUrl(endpoint)
      ? []
      : [{ code: 'parameter_invalid_format', param: 'endpoint', message: 'The value of `endpoint` must be a URL that starts with `https://` or `http://`.' }],
})

const isWebUrl = (text: string) => /^https?:\/\//i.test(text) && URL.canParse(text)
