import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Presses keys one after another. */
export async function press(page: Page, ...keys: string[]) {
  for (const key of keys) await page.keyboard.press(key)
}

/** Presses two keys. The timestamps of their events are `seconds` apart, however busy the machine is. */
export async function pressApart(page: Page, first: string, second: string, seconds: number) {
  await using closing = new AsyncDisposableStack()
  const session = await page.context().newCDPSession(page)
  closing.defer(() => session.detach())
  const timestamp = (await page.evaluate<number>('Date.now()')) / 1000
  for (const key of [
    { key: first, timestamp },
    { key: second, timestamp: timestamp + seconds },
  ])
    for (const type of ['keyDown', 'keyUp'] as const) await session.send('Input.dispatchKeyEvent', { type, ...key })
}

const isFocused = (element: Locator) => element.evaluate((element: any) => element === element.ownerDocument.activeElement)

/** Waits for the focus: keys go to what has it, which may come after what is shown. */
export async function hasFocus(element: Locator) {
  await element.waitFor()
  await expect.poll(() => isFocused(element)).toBe(true)
}

/** Focuses an element as soon as it can be used. Editors are disabled until the server says that no other member is in them. */
export async function focusOn(element: Locator) {
  await element.waitFor()
  await expect
    .poll(async () => {
      await element.focus()
      return isFocused(element)
    })
    .toBe(true)
}

/** Presses keys on an element as soon as it can be used. */
export async function pressOn(element: Locator, ...keys: string[]) {
  await focusOn(element)
  await press(element.page(), ...keys)
}
