import { CHANNELS } from '../../../lib/shapes.ts'
import { lint } from './lint.ts'
import { beginningOf, type Element, elementsOf, LINKS } from './reading.ts'

export const brokenHref = lint({
  severity: 'error',
  channels: CHANNELS,
  find(template) {
    const elements = elementsOf(template)
    const bases = navbarBases(elements)
    return elements.flatMap((element) => {
      const { param, name, line, values } = element
      const base = bases.get(element) ?? ''
      const href = LINKS.has(name) ? values('href').find((href) => isBroken(base + href)) : undefined
      if (href === undefined) return []
      return [
        {
          param,
          line,
          message: `The link \`${href.slice(0, 100)}\` does not work in an email. Use a full URL with \`https://\`.`,
        },
      ]
    })
  },
  examples: [
    {
      content: {
        subject: 's',
        html: '<a href="">\n<a href="#">\n<a href=" JavaScript:go()">\n<a href="www.example.com">\n<a href="/shop/{{ x }}">',
      },
      finds: ['html:1', 'html:2', 'html:3', 'html:4', 'html:5'],
    },
    {
      content: {
        subject: 's',
        html: '<a href="https://example.com"><a href="{{ unsubscribe_url }}"><a href="{% if a %}x{% endif %}"><a href="mailto:a@b.c"><a href="#part"><a name="x">',
      },
      finds: [],
    },
    {
      content: { subject: 's', html: '{% comment %}<a href="#">{% endcomment %}<!-- <a href="#"> --><script>"<a href=#>"</script>' },
      finds: [],
    },
    { content: { subject: 's', html: '<a {% if a\n%}href="#"{% endif %}>\n<a href="&num;">' }, finds: ['html:1', 'html:3'] },
    { content: { subject: 's', html: '<a href="http{% if a %}s{% endif %}://e.com"><a href="htt{{ a }}">' }, finds: [] },
    { content: { subject: 's', html: '<a href="www.{{ a }}">\n<a href="shop/{{ a }}">' }, finds: ['html:1', 'html:2'] },
    { content: { subject: 's', html: '<a {% if a %}href="https://e.com"{% else %}href="#"{% endif %}>' }, finds: ['html:1'] },
    { content: { subject: 's', mjml: '<mj-button href="#">x</mj-button>' }, finds: ['mjml:1'] },
    {
      content: {
        subject: 's',
        mjml: '<mj-body><mj-navbar base-url="https://e.com"><mj-navbar-link href="/shop"></mj-navbar>\n<mj-navbar><mj-navbar-link href="/shop">',
      },
      finds: ['mjml:2'],
    },
    {
      content: {
        subject: 's',
        mjml: '<mj-attributes><mj-navbar base-url="https://e.com" /></mj-attributes><mj-body><mj-navbar><mj-navbar-link href="/shop"></mj-navbar>\n<mj-button href="/shop">',
      },
      finds: ['mjml:2'],
    },
    {
      content: { subject: 's', mjml: '<mj-body><mj-navbar base-url="{% if a %}https://a.com{% endif %}"><mj-navbar-link href="/shop">' },
      finds: [],
    },
  ],
})

/** What MJML puts before the addresses of links in a navigation bar. In the head of a template, it is set for all of them. */
function navbarBases(elements: Element[]): Map<Element, string> {
  const bases = new Map<Element, string>()
  let ofAll = ''
  let base = ''
  let isInBody = false
  for (const element of elements) {
    if (element.name === 'mj-body') isInBody = true
    if (element.name === 'mj-navbar') {
      base = element.attribute('base-url') ?? ofAll
      if (!isInBody) ofAll = base
    }
    if (element.name === 'mj-navbar-link') bases.set(element, base)
  }
  return bases
}

function isBroken(href: string): boolean {
  const beginning = beginningOf(href)
  // The scheme may go on in the Liquid.
  if (beginning !== href && /^[a-z0-9+-]*$/i.test(beginning)) return false
  return href === '' || href === '#' || /^javascript:/i.test(href) || !/^(?:#|[a-z][a-z0-9+.-]*:)/i.test(beginning)
}
