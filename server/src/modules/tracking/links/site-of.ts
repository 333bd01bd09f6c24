/**
 * The scheme and host of a link, such as `https://shop.example.com`, without the rest. A link that is all Liquid, such as `{{ data.url }}`, stays; of any
 * other one without a scheme nothing is kept.
 */
export function siteOf(link: string): string {
  const [, scheme, authority] = /^\s*([a-z][a-z0-9+.-]{0,19}:)?\/\/([^/?#\\]*)/i.exec(link) ?? []
  if (authority !== undefined) return `${scheme ?? ''}//${authority.slice(authority.lastIndexOf('@') + 1)}`
  return /^\s*\{\{[^{}]*\}\}\s*$/.test(link) ? link.trim() : ''
}
