import { Type } from 'typebox'
import { Exact, FreeForm, Line } from '../../../lib/shapes.ts'
import { common, templateKind } from './template.ts'

// Push services accept about 4 kB in total.
const CUSTOM_BYTES_MAX = 4096

export const push = templateKind({
  shape: Exact({
    title: Line(255),
    body: Type.String({ notBlank: true, maxLength: 4000 }),
    url: Type.Optional(Line(2048, { description: 'The URL to open when the message is tapped.' })),
    topic: Type.Optional(Line(255)),
    custom: Type.Optional(FreeForm(CUSTOM_BYTES_MAX, { description: 'Custom data for the app.' })),
    ...common,
  }),
  html: [],
  sample: { title: 'Hi', body: 'There', url: 'app://home', topic: 'news', custom: { deep: { link: '{{ event.id }}' }, count: 3 } },
})
