/**
 * Returns the focus to the element that opened something, after that is closed. The element is missing if the page was loaded with the
 * thing open, or if the list shows another page. Then the heading gets the focus, so that keyboard users continue at the top.
 */
export const returnFocus = (id: string): void => (document.getElementById(id) ?? document.querySelector<HTMLElement>('main h1'))?.focus()
