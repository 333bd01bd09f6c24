/** About a second. */
const FRAMES = 60

/** Moves the focus to an element once it is drawn: what comes with a navigation takes several frames. */
export function focusWhenDrawn(find: () => HTMLElement | null | undefined, frames = FRAMES): void {
  requestAnimationFrame(() => {
    const element = find()
    if (element) element.focus()
    else if (frames > 1) focusWhenDrawn(find, frames - 1)
  })
}
