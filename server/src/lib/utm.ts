/** The parameters by which analytics tell where a visit comes from. Pure. */

/** The parameters of a campaign, without `utm_`. */
export type Utm = { source: string; medium: string; campaign: string; term?: string; content?: string }

const NAMES = ['source', 'medium', 'campaign', 'term', 'content'] as const

/** A web address with the parameters, except those that it has already. Other addresses stay as they are. */
export function withUtm(url: string, utm: Utm): string {
  if (!/^https?:/i.test(url)) return url
  const hash = url.indexOf('#')
  const [page, fragment] = hash < 0 ? [url, ''] : [url.slice(0, hash), url.slice(hash)]
  const query = page.includes('?') ? page.slice(page.indexOf('?') + 1) : ''
  const present = new Set(query.split('&').map((pair) => pair.split('=')[0]?.toLowerCase()))
  const added = NAMES.flatMap((name) => {
    const value = utm[name]
    return value === undefined || present.has(`utm_${name}`) ? [] : [`utm_${name}=${encodeURIComponent(value.toWellFormed())}`]
  })
  if (added.length === 0) return url
  const joint = !page.includes('?') ? '?' : query === '' || query.endsWith('&') ? '' : '&'
  return `${page}${joint}${added.join('&')}${fragment}`
}
