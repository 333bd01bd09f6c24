/** Keys on the list, and on the object, that a screen shows. */

const ROWS = 'main table.rows > tbody > tr, main .mails > li'
/** What opens a row, else the first that can have the focus. */
const OPENERS = ['th a, th button', 'a, button, input']
/** The row that is open beside the list. */
const OPEN = '.on, :has(> [aria-pressed="true"])'

const openerOf = (row: Element): HTMLElement | null =>
  OPENERS.map((opener) => row.querySelector<HTMLElement>(opener)).find((found) => found !== null) ?? null

/** Gives the focus to the next or the previous row: from the one that has it, else from the one that is open. */
export function goInList(by: 1 | -1): void {
  const rows = [...document.querySelectorAll(ROWS)].filter((row) => openerOf(row) !== null)
  const focused = rows.findIndex((row) => row.contains(document.activeElement))
  const current = focused === -1 ? rows.findIndex((row) => row.matches(OPEN)) : focused
  const next = current === -1 ? rows.at(by === 1 ? 0 : -1) : rows[current + by]
  if (next) openerOf(next)?.focus()
}

/** Gives the focus to the search of the list. */
export const goToSearch = (): void => document.querySelector<HTMLElement>('main .search input')?.focus()

/** Presses the button that edits the object, which is found by its `aria-keyshortcuts`. */
export const pressEdit = (): void => document.querySelector<HTMLElement>('main [aria-keyshortcuts="e"]')?.click()
