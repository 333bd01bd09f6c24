/** What a search box has sent to the address and has not come back from it yet. Pure. */
const SENT_MAX = 8

export const withSent = (sent: readonly string[], value: string): string[] => [...sent, value].slice(-SENT_MAX)

/**
 * What the address says now. If it is what the box has sent, more may have been typed since, which stays; anything else comes from elsewhere,
 * such as from the Back button, and is shown. Returns what is then still on its way.
 */
export function received(sent: readonly string[], value: string): { isOwn: boolean; sent: string[] } {
  const at = sent.indexOf(value)
  return at === -1 ? { isOwn: false, sent: [] } : { isOwn: true, sent: sent.slice(at + 1) }
}
