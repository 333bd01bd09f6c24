import { Type } from 'typebox'
import { Exact, FreeForm, IdOf, Line, OneOf } from '../../../lib/shapes.ts'
import { step } from './step.ts'

const RULE_BYTES_MAX = 32_768

export const entrance = step({
  label: 'Enter',
  description: 'Where users enter the journey, and what makes them enter.',
  settings: Exact({
    trigger: Type.Optional(OneOf(['none', 'event', 'list', 'schedule', 'api'], { description: 'What makes users enter.' })),
    event_name: Type.Optional(
      Type.String({ notBlank: true, minLength: 1, maxLength: 255, description: 'The name of the event that makes users enter.' }),
    ),
    list_id: Type.Optional(IdOf({ description: 'The list whose new users enter, or whose users enter on schedule.' })),
    schedule: Type.Optional(Line(1000, { description: 'A recurrence rule of RFC 5545.' })),
    rule: Type.Optional(FreeForm(RULE_BYTES_MAX, { description: 'A rule that the user and the event must match.' })),
    multiple: Type.Optional(Type.Boolean({ description: 'Whether a user may enter more than once.' })),
    concurrent: Type.Optional(Type.Boolean({ description: 'Whether a user may enter again while still in the journey.' })),
  }),
  refersTo: { list_id: 'list', rule: 'rule' },
  example: { trigger: 'event', event_name: 'order_placed', multiple: true, concurrent: false },
  sentence: 'users enter when order_placed occurs, any number of times, but not while still in the journey',
})
