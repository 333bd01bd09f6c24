import { Type } from 'typebox'
import { Exact } from '../../../lib/shapes.ts'
import { common, templateKind } from './template.ts'

export const text = templateKind({
  shape: Exact({ body: Type.String({ notBlank: true, maxLength: 5000 }), ...common }),
  html: [],
})
