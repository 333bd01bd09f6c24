/** The README, the guides and the pages for operators do what they say: every block of code is run, and what it prints is compared. */
import { spawnSync } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Checkout, openCheckout, shareData } from '../checkout.ts'
import { unusedPort } from '../fake-provider.ts'
import { cloneTemplate } from '../ground.ts'
import { type Block, blocksOf, fileNameOf, fits, needOf, PAGES, readPage, stepsOf } from '../guides.ts'

/** What some blocks need that a machine without accounts and without access to the internet does not have, with the reason. */
const NEEDS: Record<string, string> = {
  'Needs a member with this address.':
    'Members join with links that they open in a browser. members/team.test.ts resets the password and the second factor of one.',
  'Needs the npm registry.':
    'flows/clients.test.ts generates both clients with the same commands, and compiles and runs a program with each.',
  'Needs an account at Google.': 'The key file comes from a Google account. Tests of the provider use recorded replies of the service.',
  'Needs an account at Apple.': 'The key file comes from an Apple account. Tests of the provider use recorded replies of the service.',
  'Needs access to the mail hosts of the Internet.':
    'The test of the provider connects to mail hosts. channels/delivery-check.test.ts makes it with mail hosts on loopback.',
  'Needs a database that they share.': 'infra/http/ops-listener.test.ts reads the paths of the port.',
  'Needs a place for backups.': 'The folder is one of the machine. cli/backup.test.ts makes a backup and restores it.',
  'Needs a database that was restored to a point in time.': 'cli/backup.test.ts restores a backup, which lets the ids go on further too.',
  'Needs Prometheus.': 'Prometheus reads the configuration. promtool tests the rules, where it is installed.',
  'Needs Docker.': 'Images are built by Docker. flows/setup.test.ts runs what creates the secrets.',
  'Needs Kubernetes and Helm.': 'house/helm.test.ts renders the chart, where Helm is installed.',
  'Needs nats-server 2.9 or newer.': 'infra/queue/log/log.test.ts starts one, where it is installed.',
  'Needs a machine with systemd.': 'The commands create a user and a service of the machine.',
  'Needs an account at an SMTP relay.': 'A test of a provider connects to its host. The provider itself is created by the block before.',
}

/** Commands that run until they are stopped, with what they print when they are ready. The README needs both. */
const RUNNING: Record<string, RegExp> = { 'npm start\n': /ready at/, 'npx carillon listen\n': /Listening at/ }

/**
 * Blocks that are not run: what a server sends, and programs that `clients.test.ts` compiles.
 */
const SHOWN = ['text', 'ts']

/** Files that readers have from another product, by the names that a page gives them. */
const FILES: Record<string, string> = {
  'users.jsonl': 'braze-users.jsonl',
  'hard-bounces.json': 'braze-hard-bounces.json',
  'template.json': 'braze-template.json',
  'subscribed_members_export.csv': 'mailchimp-subscribed.csv',
  'unsubscribed_members_export.csv': 'mailchimp-unsubscribed.csv',
  'cleaned_members_export.csv': 'mailchimp-cleaned.csv',
  'newsletter.html': 'mailchimp-newsletter.txt',
  'subscribers.csv': 'listmonk-subscribers.csv',
  'campaign.json': 'listmonk-campaign.json',
}

const standIn = (name: string) => fileURLToPath(new URL(`../stand-ins/${name}.mjs`, import.meta.url))

/**
 * Values of the pages that readers replace by their own, or that other programs of this machine may use, with values to test with. Express
 * and Next.js are no dependencies. Stand-ins do what the guide uses of them, as their documentation says: of Express 4.17 and 5, `post` with
 * several handlers, `raw`, `get` of a request and `sendStatus`; of Next.js from 13.2 to 16, `app/<path>/route.js` with `POST(Request)`.
 */
const SUBSTITUTES: Record<string, () => Promise<string>> = {
  'postgres://carillon:…@db.example.com/carillon': cloneTemplate,
  "from 'express'": async () => `from '${standIn('express')}'`,
  'npx next dev': async () => `node ${standIn('next')}`,
  ...Object.fromEntries(['3100', '4000', '4001', '4002', '4003'].map((port) => [port, async () => String(await unusedPort())])),
}

/** The blocks with these values instead of those of the pages. */
async function substituted(blocks: Block[]): Promise<Block[]> {
  let text = JSON.stringify(blocks)
  for (const [value, own] of Object.entries(SUBSTITUTES)) if (text.includes(value)) text = text.replaceAll(value, await own())
  return JSON.parse(text)
}

const PREAMBLE = blocksOf(readPage('docs/guide/shorthand.md'))[0]?.code ?? ''

let server: Checkout
let url: string
let organisationKey: string
let listener: { output: string }
const port = await unusedPort()

beforeAll(async () => {
  // The terminals have another port in `PORT`, as the README says.
  server = await openCheckout({ PORT: String(port), DNS_SERVERS: '127.0.0.1:1' })
  await server.keepRunning(await startScript(), RUNNING['npm start\n'] as RegExp)
  listener = await server.keepRunning('npx carillon listen', RUNNING['npx carillon listen\n'] as RegExp)
  url = `http://127.0.0.1:${port}`
  organisationKey = JSON.parse(await readFile(join(server.path, '.carillon', 'credentials.json'), 'utf8')).organisation_key
}, 90_000)

afterAll(() => server[Symbol.asyncDispose]())

/** `npm start` without the installation of packages, which would change those that this test uses. */
const startScript = async () => JSON.parse(await readFile(join(server.path, 'package.json'), 'utf8')).scripts.start

/** A checkout for a page, with a project of its own on the server. */
async function checkoutOf(page: string): Promise<Checkout> {
  const checkout = await openCheckout({ PORT: String(port) })
  const create = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${organisationKey}`, 'content-type': 'application/json' }
    const reply = await fetch(`${url}/api/client/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await reply.json()) as { id: number; value: string }
  }
  const { id } = await create('projects', { name: page, locale: 'en', timezone: 'UTC' })
  const secret = await create(`projects/${id}/keys`, { name: 'Secret', role: 'admin' })
  const publishable = await create(`projects/${id}/keys`, { name: 'Publishable', scope: 'public' })
  const credentials = { organisation_key: organisationKey, secret_key: secret.value, publishable_key: publishable.value }
  await shareData(server, checkout, credentials)
  return checkout
}

/** Python is the one program that this repository does not install. Without it, its commands are left out. */
const hasPython = spawnSync('python3', ['--version']).status === 0

/** The blocks of a page that are run: those that need nothing, and that do not run until they are stopped. */
const runnable = (page: string): Block[] =>
  blocksOf(readPage(page)).filter(
    (block) =>
      needOf(block) === undefined &&
      RUNNING[block.code] === undefined &&
      !SHOWN.includes(block.language) &&
      (hasPython || !/^python3 /m.test(block.code)),
  )

/** Runs the blocks of a page, compares what they print, and returns all of it. */
async function runPage(page: string, checkout: Checkout): Promise<string> {
  const blocks = await substituted(runnable(page))
  for (const block of blocks) {
    const name = fileNameOf(block)
    if (!name) continue
    await mkdir(dirname(join(checkout.path, name)), { recursive: true })
    await writeFile(join(checkout.path, name), block.code)
  }
  for (const [name, file] of Object.entries(FILES)) {
    if (readPage(page).includes(` ${name} `)) await copyFile(new URL(`../exports/${file}`, import.meta.url), join(checkout.path, name))
  }
  const commands = blocks.filter(({ language }) => language === 'sh').flatMap(stepsOf)
  const steps = readPage(page).includes('shorthand.md)') ? [{ command: PREAMBLE }, ...commands] : commands
  const done = await checkout.run(steps.map(({ command }) => command))
  for (const [at, { command, prints }] of steps.entries()) {
    const { output = '', refusals = [] } = done[at] ?? {}
    if (prints !== undefined) expect(fits(prints, output), `${command}prints\n${output}\ninstead of\n${prints}`).toBe(true)
    const isExpected = command.includes('wait_for ') || prints?.includes('"error"')
    if (!isExpected) expect(refusals, `${command}\n${output}`).toEqual([])
  }
  return done.map(({ output }) => output).join('\n')
}

test('the README leads to an email to look at, its webhook events and a list', async () => {
  const output = await runPage('README.md', server)
  const [link = ''] = /http:[^)\s]+/.exec(output) ?? []
  expect(await (await fetch(link)).text()).toContain('You chose the pro plan.')
  await expect.poll(() => listener.output).toContain('delivery.delivered')
}, 60_000)

describe('the guides', () => {
  const guides = PAGES.filter((page) => page !== 'README.md' && runnable(page).some(({ language }) => language === 'sh'))
  test.concurrent.each(guides)(
    '%s',
    async (page) => {
      await using checkout = page.startsWith('docs/operate/running')
        ? await openCheckout({ PORT: String(await unusedPort()) })
        : await checkoutOf(page)
      await runPage(page, checkout)
    },
    90_000,
  )
})

test('blocks that are not run say what they need, and this test knows why', () => {
  const needs = PAGES.flatMap((page) => blocksOf(readPage(page)).flatMap((block) => needOf(block) ?? []))
  expect([...new Set(needs)].toSorted()).toEqual(Object.keys(NEEDS).toSorted())
})

test('every block is a command, a file that a command runs, or says what it needs', () => {
  for (const page of PAGES) {
    const blocks = blocksOf(readPage(page))
    const commands = blocks
      .filter(({ language }) => language === 'sh')
      .map(({ code }) => code)
      .join('')
    const idle = blocks.filter((block) => {
      if (block.language === 'sh' || needOf(block) !== undefined || SHOWN.includes(block.language)) return false
      const name = fileNameOf(block)
      return name === undefined || !commands.includes(name.split('/app/')[0] as string)
    })
    expect(idle, page).toEqual([])
  }
})
