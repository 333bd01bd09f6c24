import { Type } from 'typebox'
import { Exact } from '../../../lib/shapes.ts'
import { segmentsOf } from '../sms.ts'
import { common, jsonBytes, templateKind } from './template.ts'

export const text = templateKind({
  shape: Exact({ body: Type.String({ notBlank: true, maxLength: 5000 }), ...common }),
  html: [],
  measure: (content) => ({ size_bytes: jsonBytes(content), segments: segmentsOf(String(content.body)) }),
  sample: { body: 'Hi {{ user.data.name }}' },
})
