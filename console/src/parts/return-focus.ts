/**
 * Gives the focus back to what had opened something, once that is closed. A page that was loaded with it open may not have drawn what
 * opens it, and another page of a list does not have it: then the heading has the focus, so that the keyboard continues at the top.
 */
export const returnFocus = (id: string): void => (document.getElementById(id) ?? document.querySelector<HTMLElement>('main h1'))?.focus()
