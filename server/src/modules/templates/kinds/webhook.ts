import { Type } from 'typebox'
import { isAllowedPort } from '../../../lib/egress.ts'
import type { Fault } from '../../../lib/errors.ts'
import { hasLiquid } from '../../../lib/liquid/liquid.ts'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { common, templateKind } from './template.ts'

const HEADERS_MAX = 50

const HeaderName = Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,255}$" })
const HeaderValue = Type.String({ maxLength: 4096, format: 'no-control' })

export const webhook = templateKind({
  shape: Exact({
    method: Type.Optional(
      OneOf(['POST', 'PUT', 'PATCH', 'GET', 'DELETE'], { description: 'The HTTP method of the request. Default: `POST`.' }),
    ),
    endpoint: Line(2048, { format: 'no-control', description: 'The URL to call.' }),
    headers: Type.Optional(Type.Record(HeaderName, HeaderValue, { additionalProperties: false })),
    body: Type.Optional(Type.String({ maxLength: 100_000 })),
    ...common,
  }),
  html: [],
  sample: {
    method: 'PUT',
    endpoint: 'https://example.com/{{ user.external_id }}',
    headers: { 'X-User': '{{ user.external_id }}' },
    body: '{"id":"{{ user.external_id }}"}',
  },
  check({ endpoint, headers = {} }) {
    const faults: Fault[] = []
    if (!hasLiquid(endpoint) && !isWebUrl(endpoint)) {
      const message = 'The value of `endpoint` must be a URL that starts with `https://` or `http://`.'
      faults.push({ code: 'parameter_invalid_format', param: 'endpoint', message })
    } else if (!hasLiquid(endpoint) && !isAllowedPort(new URL(endpoint))) {
      const message = 'The port of `endpoint` must be 443 for https, 80 for http, or 1024 or above.'
      faults.push({ code: 'parameter_invalid_format', param: 'endpoint', message })
    }
    if (Object.keys(headers).length > HEADERS_MAX) {
      faults.push({
        code: 'validation_failed',
        param: 'headers',
        message: `The parameter \`headers\` may have at most ${HEADERS_MAX} members.`,
      })
    }
    return faults
  },
})

const isWebUrl = (text: string) => /^https?:\/\//i.test(text) && URL.canParse(text)
