import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { OWNER, type Site } from '../site.ts'
import { memberPage } from './member-page.ts'

const HTML =
  '<p style="color: rgb(1, 2, 3)">Good day</p><script>document.body.textContent = "scripted"</script><p><a href="{{ unsubscribe_url }}">Unsubscribe</a> <a href="/terms">Terms</a></p>'

/** Every way for content to run a script, each of which says so in the title of its document and to the console. */
const RUN = "document.title = 'ran'; top.postMessage('ran', '*')"
const SCRIPTED = `<body onload="${RUN}"><p>Hostile</p>
  <button type="button" onclick="${RUN}" onpointerdown="${RUN}" onfocus="${RUN}">Press</button>
  <a href="javascript:${RUN}">Follow</a>
  <form action="javascript:${RUN}" onsubmit="${RUN}"><button formaction="javascript:${RUN}">Send</button></form>
  <img src="data:image/png,broken" alt="" onerror="${RUN}"><svg onload="${RUN}"></svg>
  <details open ontoggle="${RUN}"></details><input autofocus onfocus="${RUN}">
  <iframe srcdoc="<script>top.postMessage('ran', '*')</script>"></iframe><object data="data:text/html,<script>top.postMessage('ran','*')</script>"></object>
  <meta http-equiv="refresh" content="0;url=javascript:${RUN}"><style onload="${RUN}">p { color: green }</style></body>`

/** The first subscription type of emails. */
const emailType = async (site: Site): Promise<number> =>
  (await site.api('GET', 'subscriptions')).results.find(({ channel }: { channel: string }) => channel === 'email').id

/** Opens what the recipient of the message sees, and sends it to a member. */
async function releaseShown(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'More about the message' }).click()
  const shown = page.context().waitForEvent('page')
  await page.getByRole('menuitem', { name: 'Open the recipient’s preference page' }).click()
  await (await shown).getByText('nothing on this page is saved').waitFor()
  await (await shown).close()
  await page.getByRole('button', { name: 'More about the message' }).click()
  await page.getByRole('menuitem', { name: 'Release…' }).click()
  await page.getByRole('dialog').getByLabel('Address').fill('stranger@example.com')
  await page.getByRole('button', { name: 'Send the copy' }).click()
  await page.getByText('must be the address of a member', { exact: false }).waitFor()
  await page.getByRole('dialog').getByLabel('Address').fill(OWNER.email)
  await page.getByRole('button', { name: 'Send the copy' }).click()
  await page.getByText(`The copy was sent to ${OWNER.email}.`).waitFor()
}

const faults = (site: () => Site) =>
  test('acts out faults while admins let it, and the strip on top says so', async () => {
    await using opened = await memberPage(site(), '/p/1/sandbox')
    const { page } = opened
    await page.getByText('Simulate bounces, complaints and delays').click()
    await page.getByLabel('Emails that bounce').fill('100')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The sandbox simulates faults.').waitFor()
    const { id } = await site().api('POST', 'messages', {
      user: { external_id: 'sample-3' },
      subscription_id: await emailType(site()),
      content: { subject: 'Beans that bounce', html: HTML },
    })
    await expect.poll(async () => (await site().api('GET', `messages/${id}`)).state).toBe('bounced')
    await page.getByRole('button', { name: 'Turn all off' }).click()
    await page.getByText('The sandbox simulates faults.').waitFor({ state: 'detached' })
    expect((await site().api('GET', 'sandbox/fault-policy')).bounce_percent).toBe(0)
  })

const releasesOpened = (site: () => Site) =>
  test('shows one message until another is chosen, and Release… sends that one', async () => {
    const send = async (subject: string) => {
      const content = { subject, html: HTML }
      await site().api('POST', 'messages', { user: { external_id: 'sample-2' }, subscription_id: await emailType(site()), content })
    }
    const newest = async () => (await site().api('GET', 'sandbox/messages?limit=1')).results[0]
    await send('Beans to release')
    await expect.poll(async () => (await newest())?.summary).toBe('Beans to release')
    const { id } = await newest()
    await using opened = await memberPage(site(), '/p/1/sandbox')
    const { page } = opened
    const shown = page.locator('.mail')
    await shown.getByText('Beans to release').waitFor()
    await page.getByRole('button', { name: 'More about the message' }).click()
    await page.getByRole('menuitem', { name: 'Release…' }).click()
    await page.getByRole('dialog').getByText('Beans to release').waitFor()
    await send('Later beans')
    await page.locator('.mails').getByText('Later beans').waitFor()
    const sent = page.waitForRequest(/\/release$/)
    await page.getByRole('button', { name: 'Send the copy' }).click()
    expect((await sent).url()).toContain(`/messages/${id}/release`)
    await page.getByText(`The copy was sent to ${OWNER.email}.`).waitFor()
    expect(await shown.getByText('Beans to release').count()).toBe(1)
  })

export const sandbox = (site: () => Site) =>
  describe('the sandbox inbox', () => {
    faults(site)

    test('names addresses that act out a bounce, which the message of one ends with', async () => {
      await using opened = await memberPage(site(), '/p/1/sandbox')
      const { page } = opened
      await page.getByText('Simulate a bounce or a complaint').click()
      const address = (await page.locator('.outcomes code').first().textContent()) ?? ''
      const { id } = await site().api('POST', 'messages', {
        user: { external_id: 'bouncing', email: address },
        subscription_id: await emailType(site()),
        content: { subject: 'Time for beans', html: HTML },
      })
      await expect.poll(async () => (await site().api('GET', `messages/${id}`)).state).toBe('bounced')
    })

    test('shows a message as soon as it is captured, drawn without its scripts', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/sandbox`)
      await page.getByRole('heading', { level: 1, name: 'Sandbox inbox' }).waitFor()
      await site().api('POST', 'messages', {
        user: { external_id: 'sample-2' },
        subscription_id: await emailType(site()),
        content: { subject: 'Time for beans', html: HTML },
      })
      await page.getByRole('button', { name: /unread.*Time for beans/ }).click()
      await page.getByText('unread', { exact: true }).waitFor({ state: 'detached' })
      const drawn = page.frameLocator('iframe[title="Preview of the email"]').getByText('Good day')
      await drawn.waitFor()
      expect(await drawn.evaluate((element: any) => element.ownerDocument.defaultView.getComputedStyle(element).color)).toBe('rgb(1, 2, 3)')
      await page.getByRole('button', { name: 'HTML', exact: true }).click()
      await page.waitForURL(/tab=html/)
      expect(await page.locator('pre').textContent()).toContain('scripted')
      await page.getByRole('button', { name: /^Problems/ }).click()
      await page.getByRole('button', { name: /^Links 2$/ }).click()
      await page.getByText('unsubscribe link, line 1').waitFor()
      await page.getByText('Relative URLs do not work in an email.', { exact: false }).waitFor()
      await releaseShown(page)
    })

    test('runs nothing of what is drawn, whichever way it is asked to', async () => {
      await using opened = await memberPage(site(), '/')
      const { page } = opened
      await page.goto(`${new URL(page.url()).pathname}/sandbox`)
      await page.getByRole('heading', { level: 1, name: 'Sandbox inbox' }).waitFor()
      await page.evaluate("window.heard = []; addEventListener('message', ({ data }) => heard.push(data))")
      await site().api('POST', 'messages', {
        user: { external_id: 'sample-2' },
        subscription_id: await emailType(site()),
        content: { subject: 'Hostile beans', html: SCRIPTED },
      })
      await page.getByRole('button', { name: /Hostile beans/ }).click()
      const frame = page.frameLocator('iframe[title="Preview of the email"]')
      await frame.getByText('Hostile').waitFor()
      for (const name of ['Press', 'Send']) await frame.getByRole('button', { name }).click()
      await frame.getByText('Follow').click()
      // Two frames later, whatever was begun has run.
      const title = await frame.getByText('Hostile').evaluate(({ ownerDocument: drawn }: any) => {
        const nextFrame = () => new Promise((done) => drawn.defaultView.requestAnimationFrame(done))
        return nextFrame()
          .then(nextFrame)
          .then(() => drawn.title)
      })
      expect(title).not.toBe('ran')
      const heard = (await page.evaluate('heard')) as unknown[]
      expect(heard.length).toBeGreaterThan(0)
      expect(heard).not.toContain('ran')
    })

    releasesOpened(site)
  })
