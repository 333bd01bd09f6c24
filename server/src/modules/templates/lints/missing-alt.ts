import { CHANNELS } from '../../../lib/shapes.ts'
import { lint } from './lint.ts'
import { elementsOf } from './reading.ts'

const IMAGES = ['img', 'mj-image', 'mj-carousel-image']

export const missingAlt = lint({
  severity: 'warning',
  channels: CHANNELS,
  find: (template) =>
    elementsOf(template)
      .filter(({ name, attribute }) => IMAGES.includes(name) && attribute('alt') === undefined && attribute('width') !== '1')
      .map(({ param, line }) => ({
        param,
        line,
        message:
          'The image has no `alt` text, which is shown or read out when the image is not displayed. Use `alt=""` for decorative images.',
      })),
  examples: [
    { content: { subject: 's', html: '<p>\n<img src="a.png"></p><img src=b.png alt="B">' }, finds: ['html:2'] },
    { content: { subject: 's', mjml: '<mj-image src="{% if\n a > b %}x{% endif %}"/>\n<mj-image />' }, finds: ['mjml:1', 'mjml:3'] },
    { content: { subject: 's', html: '<img src="a" alt=""><img src="pixel" width="1" height="1"><!-- <img> -->' }, finds: [] },
    { channel: 'in_app', content: { title: 't', body: 'b', html: '<img>' }, finds: ['html:1'] },
  ],
})
