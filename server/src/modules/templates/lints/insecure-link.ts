import { CHANNELS } from '../../../lib/shapes.ts'
import { lint } from './lint.ts'
import { elementsOf, isUrlMember, textsOf } from './reading.ts'

const ADDRESSES = ['href', 'src', 'background', 'background-url', 'base-url', 'action']

export const insecureLink = lint({
  severity: 'warning',
  channels: CHANNELS,
  find: (template) => [
    ...elementsOf(template).flatMap(({ param, line, attribute }) =>
      ADDRESSES.filter((name) => isInsecure(attribute(name) ?? '')).map((name) => ({
        param,
        line,
        message: messageOf(attribute(name) ?? ''),
      })),
    ),
    ...textsOf(template.written)
      .filter(({ param, text }) => isUrlMember(param) && isInsecure(text))
      .map(({ param, text }) => ({ param, message: messageOf(text) })),
  ],
  examples: [
    {
      content: { subject: 's', html: '<a href="http://example.com">\n<img alt="" src=http://example.com/a.png></a>' },
      finds: ['html:1', 'html:2'],
    },
    {
      content: { subject: 's', html: '<a href="https://example.com/?u=http://x">x</a><html xmlns="http://www.w3.org/1999/xhtml">' },
      finds: [],
    },
    { content: { subject: 's', mjml: '<mj-navbar base-url="http://example.com">' }, finds: ['mjml:1'] },
    { channel: 'webhook', content: { endpoint: 'HTTP://example.com' }, finds: ['endpoint'] },
    { channel: 'push', content: { title: 't', body: 'b', url: 'app://home' }, finds: [] },
  ],
})

const isInsecure = (address: string) => /^\s*http:\/\//i.test(address)

const messageOf = (address: string) => `The URL \`${address.trim().slice(0, 100)}\` is not secure. Use \`https://\`.`
