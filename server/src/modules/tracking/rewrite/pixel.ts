import { encodeAttribute } from '../../../lib/markup/attribute-text.ts'

/** HTML with an invisible image at the end of its body, which is loaded when the email is opened. */
export function addPixel(html: string, url: string): string {
  const picture = `<img src="${encodeAttribute(url)}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`
  const lower = html.lastIndexOf('</body')
  const end = lower < 0 ? html.lastIndexOf('</BODY') : lower
  // A body that ends within a comment does not end there.
  const at = end < 0 || html.includes('-->', end) ? html.length : end
  return html.slice(0, at) + picture + html.slice(at)
}
