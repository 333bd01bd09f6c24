import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { codeAt, stepAt } from '../../../server/src/lib/totp.ts'
import { type Site, signIn } from '../site.ts'
import { memberPage } from './member-page.ts'
import { ANA, presence } from './presence.ts'

const RESET = 'another four long words'

/** What each role in a project sees of four screens, and what the API answers it. */
const ROLES = [
  { role: 'smtpproxy', restores: 0, reads: 403, adds: false, lifts: false, administers: false },
  { role: 'support', restores: 0, reads: 200, adds: false, lifts: false, administers: false },
  { role: 'editor', restores: 1, reads: 200, adds: true, lifts: false, administers: false },
  { role: 'publisher', restores: 2, reads: 200, adds: true, lifts: false, administers: false },
  { role: 'admin', restores: 2, reads: 200, adds: true, lifts: true, administers: true },
] as const

/** The status of a request with the session of a page. */
const statusOf = (page: Page, method: string, path: string, body?: object): Promise<number> =>
  page.evaluate(
    ([method, path, body]) =>
      fetch(path, { method, headers: { 'carillon-project': '1', 'content-type': 'application/json' }, ...(body && { body }) }).then(
        ({ status }) => status,
      ),
    [method, path, body && JSON.stringify(body)] as const,
  )

/** Gives Ana a role in the project, by clicks. */
async function giveAnaFirst(owner: Page, role: string): Promise<void> {
  await owner.reload()
  await owner.getByRole('button', { name: 'Change Ana' }).click()
  const dialog = owner.getByRole('dialog')
  await dialog
    .getByLabel(/^Role in /)
    .first()
    .click()
  await owner.getByRole('option', { name: role, exact: true }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'hidden' })
}

/** Gives Ana another role in the project, with the session of the owner. */
async function giveAna(owner: Page, role: string): Promise<void> {
  const status = await owner.evaluate(
    async ([email, role]) => {
      const { results } = (await (await fetch('/api/console/members')).json()) as { results: { id: number; email: string }[] }
      const id = results.find((member) => member.email === email)?.id
      const body = JSON.stringify({ projects: [{ project_id: 1, role }] })
      return (await fetch(`/api/console/members/${id}`, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body })).status
    },
    [ANA.email, role] as const,
  )
  expect(status).toBe(200)
}

/** An archived draft, and an archived campaign that was running. */
async function archivedCampaigns(site: Site): Promise<void> {
  const { results } = await site.api('GET', 'subscriptions')
  const subscription_id = results.find(({ channel }: { channel: string }) => channel === 'email').id
  for (const name of ['Never sent', 'Was running']) {
    const { id } = await site.api('POST', 'campaigns', { type: 'trigger', name, subscription_id })
    if (name === 'Was running') {
      await site.api('PUT', `campaigns/${id}/templates/en`, {
        from: 'shop@example.com',
        subject: 'Hi',
        html: '<p>{{ unsubscribe_url }}</p>',
      })
      await site.api('PATCH', `campaigns/${id}`, { state: 'running' })
    }
    await site.api('DELETE', `campaigns/${id}`)
  }
}

/** Looks at what the screens show in a role, and asks the API for what they hide. */
async function expectRole(page: Page, { role, restores, reads, adds, lifts, administers }: (typeof ROLES)[number]): Promise<void> {
  await page.goto('/p/1/suppressions')
  await page.getByRole('heading', { level: 1, name: 'Suppressions' }).waitFor()
  await (reads === 200 ? page.getByText('kim@example.net').first() : page.getByRole('alert').first()).waitFor()
  const [add, lift] = [
    page.getByRole('button', { name: 'Suppress addresses' }),
    page.getByRole('button', { name: /^Lift the suppression/ }),
  ]
  expect([(await add.count()) > 0, (await lift.count()) > 0], role).toEqual([adds, lifts])
  await page.goto('/p/1/campaigns?show=archived')
  await (reads === 200 ? page.getByText('Never sent').first() : page.getByRole('alert').first()).waitFor()
  // Editors restore drafts only.
  expect(await page.getByRole('button', { name: /^Restore (Never sent|Was running)$/ }).count(), role).toBe(restores)
  await page.goto('/p/1/team')
  await page.getByText(ANA.email).first().waitFor()
  expect(await page.getByRole('link', { name: 'Audit log' }).count(), role).toBe(administers ? 1 : 0)
  expect(await page.getByRole('button', { name: 'Invite a member' }).count(), role).toBe(0)
  const statuses = [
    await statusOf(page, 'GET', '/api/client/users'),
    await statusOf(page, 'POST', '/api/client/lists', { name: `A list of ${role}`, type: 'static' }),
    await statusOf(page, 'GET', '/api/client/audit'),
    await statusOf(page, 'POST', '/api/console/members', { name: 'Kim', email: 'kim@bellbird.test', role: 'member' }),
  ]
  expect(statuses, role).toEqual([reads, adds ? 201 : 403, administers ? 200 : 403, 403])
}

/** Bytes of base32, as an authenticator app reads them. */
const bytesOf = (text: string): Buffer => {
  const bits = [...text].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

export const team = (site: () => Site, mailedTo: (address: string) => string | undefined) =>
  describe('the team', () => {
    test('a member who accepts an invitation sees and may do what the role allows, for each role', async () => {
      await using opened = await memberPage(site(), '/p/1/team')
      const { page: owner } = opened
      await owner.getByRole('button', { name: 'Invite a member' }).click()
      const dialog = owner.getByRole('dialog')
      await dialog.getByLabel('Email').fill(ANA.email)
      await dialog.getByLabel('Name').fill('Ana')
      await dialog.getByRole('button', { name: 'Create the invitation' }).click()
      const link = (await dialog.locator('pre').textContent()) ?? ''
      await dialog.getByRole('button', { name: 'Done' }).click()
      const context = await site().context()
      const page = await context.newPage()
      await page.goto(link)
      await page.getByLabel('Your name').fill(ANA.name)
      await page.getByLabel('New password').fill(ANA.password)
      await page.getByRole('button', { name: 'Join and sign in' }).click()
      await page.waitForURL((url) => !url.pathname.includes('invitation'))
      // An address that is suppressed, as a row to look at.
      await site().api('POST', 'suppressions', [{ channel: 'email', address: 'kim@example.net' }])
      await archivedCampaigns(site())
      for (const given of ROLES) {
        await (given === ROLES[0] ? giveAnaFirst : giveAna)(owner, given.role)
        await expectRole(page, given)
      }
      await context.close()
    })

    presence(site)

    test('a lost password is set again by the link of an email, and a second factor is set up and asked for', async () => {
      const context = await site().context()
      const page = await context.newPage()
      await page.goto('/lost-password')
      await page.getByLabel('Email').fill(ANA.email)
      await page.getByRole('button', { name: 'Send the link' }).click()
      await page.getByRole('heading', { name: 'Check your inbox' }).waitFor()
      await expect.poll(() => mailedTo(ANA.email), { timeout: 15_000 }).toContain('/reset-password#token=')
      await page.goto(mailedTo(ANA.email) as string)
      await page.getByLabel('New password').fill(RESET)
      await page.getByRole('button', { name: 'Set the password' }).click()
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
      await signIn(page, { ...ANA, password: RESET })
      await page.waitForURL(/\/p\/\d+/)
      await page.goto('/account')
      await page.getByRole('button', { name: 'Set up' }).click()
      await page.getByLabel('Current password').last().fill(RESET)
      await page.getByRole('button', { name: 'Set up' }).click()
      const secret = (await page.locator('.copyable code').textContent()) ?? ''
      await page.getByLabel('Code').fill(codeAt(bytesOf(secret), stepAt(new Date())))
      await page.getByRole('button', { name: 'Confirm' }).click()
      const [recovery = ''] = ((await page.locator('pre').textContent()) ?? '').split('\n')
      await context.clearCookies()
      await page.goto('/sign-in')
      await signIn(page, { ...ANA, password: RESET })
      await page.getByLabel('Code').fill(recovery)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.waitForURL(/\/p\/\d+/)
      await context.close()
    })
  })
