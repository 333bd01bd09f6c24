import { Type } from 'typebox'
import { hasLiquid } from '../../../lib/liquid/liquid.ts'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { isTime } from '../../../lib/times.ts'
import { common, templateKind } from './template.ts'

export const inApp = templateKind({
  shape: Exact({
    type: Type.Optional(OneOf(['banner', 'modal', 'inbox'], { description: 'How the app shows the message. Default: `inbox`.' })),
    title: Line(255),
    body: Type.String({ notBlank: true, maxLength: 10_000 }),
    html: Type.Optional(Type.String({ maxLength: 100_000 })),
    image: Type.Optional(Line(2048)),
    action_url: Type.Optional(Line(2048)),
    expires_at: Type.Optional(Line(255, { description: 'When the message disappears, as an ISO 8601 time.' })),
    ...common,
  }),
  html: ['html'],
  sample: {
    type: 'banner',
    title: 'Hi',
    body: 'There',
    html: '<b>{{ user.data.name }}</b>',
    image: 'i',
    action_url: 'u',
    expires_at: '2026-12-01',
  },
  check: ({ expires_at }) =>
    expires_at === undefined || hasLiquid(expires_at) || isTime(expires_at)
      ? []
      : [
          {
            code: 'parameter_invalid_format',
            param: 'expires_at',
            message: 'The value of `expires_at` must be an ISO 8601 time, such as `2026-11-20T09:30:00Z`.',
          },
        ],
})
