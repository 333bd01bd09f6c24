import { Type } from 'typebox'
import { hasLiquid } from '../../../lib/liquid.ts'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { isTime } from '../../../lib/times.ts'
import { common, templateKind } from './template.ts'

export const inApp = templateKind({
  shape: Exact({
    type: Type.Optional(OneOf(['banner', 'modal', 'inbox'], { description: '`inbox` when absent.' })),
    title: Line(255),
    body: Type.String({ notBlank: true, maxLength: 10_000 }),
    html: Type.Optional(Type.String({ maxLength: 100_000 })),
    image: Type.Optional(Line(2048)),
    action_url: Type.Optional(Line(2048)),
    expires_at: Type.Optional(Line(255, { description: 'When it disappears, ISO 8601.' })),
    ...common,
  }),
  html: ['html'],
  check: ({ expires_at }) =>
    expires_at === undefined || hasLiquid(expires_at) || isTime(expires_at)
      ? []
      : [
          {
            code: 'parameter_invalid_format',
            param: 'expires_at',
            message: 'The value of `expires_at` is not a time; use ISO 8601, such as `2026-11-20T09:30:00Z`.',
          },
        ],
})
