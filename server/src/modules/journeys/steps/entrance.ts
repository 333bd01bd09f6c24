import { Type } from 'typebox'
import { Exact, FreeForm, IdOf, Line, OneOf } from '../../../lib/shapes.ts'
import { step } from './step.ts'

const RULE_BYTES_MAX = 32_768

export const entrance = step({
  label: 'Enter',
  settings: Exact({
    trigger: Type.Optional(OneOf(['none', 'event', 'list', 'schedule', 'api'], { description: 'What lets people in.' })),
    event_name: Type.Optional(Type.String({ notBlank: true, minLength: 1, maxLength: 255 })),
    list_id: Type.Optional(IdOf({ description: 'List whose new members enter, or whose members enter on schedule.' })),
    schedule: Type.Optional(Line(1000, { description: 'Recurrence rule as in RFC 5545.' })),
    rule: Type.Optional(FreeForm(RULE_BYTES_MAX, { description: 'What must be true of the person and the event.' })),
    multiple: Type.Optional(Type.Boolean({ description: 'May a person enter more than once?' })),
    concurrent: Type.Optional(Type.Boolean({ description: 'May a person enter while still inside?' })),
  }),
})
