/** Lints of a message that was rendered already: what a template may still have, and what only a template can have, is left out. */
import type { Channel } from '../../lib/channels.ts'
import { type Finding, findingsIn } from './lints/find.ts'

/** These speak of variables, and rendering has replaced them; links are judged one by one. */
const OF_TEMPLATES: Finding['kind'][] = ['unknown_variable', 'no_unsubscribe_link', 'broken_href']

const ABOUT = { isTransactional: true, isTrigger: true, attributes: new Set<string>(), areAllUsersCounted: true, sample: {} }

/**
 * The problems of a rendered message. `base` is the base of the URLs of this server. These are treated as secure, because no author can
 * change them.
 */
export function findingsInRendered(channel: Channel, content: Record<string, unknown>, base: string): Finding[] {
  const html = typeof content.html === 'string' ? content.html.replaceAll(`${base}/`, '/') : undefined
  const written = { ...content, ...(html !== undefined && { html }) }
  return findingsIn({ channel, written, rendered: content, isRendered: true, about: ABOUT }, OF_TEMPLATES)
}
