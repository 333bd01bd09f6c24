/**
 * The console in a browser: what a first visit loads, when it is ready beside the page that Vite makes for a new project, and how fast it
 * answers with a million users and a journey of 200 steps. `BENCH_USERS` sets the number of users.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { OWNER, openSite, registerOwner, type Site } from '../console/test/site.ts'
import { ensureBuilt } from '../scripts/console.ts'
import { someSecretKey, startChild } from '../server/test/child-server.ts'
import { makeUsers, pause } from './sending.ts'
import { databaseUrlOf, median, report } from './support.ts'
import { serveTemplate } from './vite-template.ts'

type Browser = Site['browser']
type BrowserContext = Awaited<ReturnType<Site['context']>>
type Page = Awaited<ReturnType<BrowserContext['newPage']>>

const USERS = Number(process.env.BENCH_USERS ?? 1_000_000)
const VISITS = 9
const TRIES = 9
/** What a screen still loads when it is drawn is counted too. */
const IDLE_MS = 1000
const STEPS = 200
const DRAG_MS = 3000
/** Ten screens, by the key that opens each after `g`. */
const SCREENS = {
  u: 'users',
  l: 'lists',
  c: 'campaigns',
  j: 'journeys',
  t: 'templates',
  r: 'reports',
  m: 'messages',
  i: 'sandbox',
  k: 'keys',
  w: 'webhooks',
}

export async function consoleInBrowser(): Promise<void> {
  ensureBuilt()
  await using opening = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'carillon-bench-'))
  opening.defer(() => rm(dataDir, { recursive: true, force: true }))
  const start = (env: Record<string, string>) => startChild({ dataDir, env: { ...env, RATE_ALL_PER_MIN: '0' } })
  const site = opening.use(await openSite({ key: someSecretKey(), start }))
  await registerOwner(site)
  await fillUsers(dataDir)
  const member = await signedIn(site)
  await firstVisits(site, await member.storageState())
  const page = await member.newPage()
  await filtered(page)
  await previewed(page, site)
  await dragged(page, site)
  await memory(page)
}

async function fillUsers(dataDir: string): Promise<void> {
  const db = new pg.Client({ connectionString: await databaseUrlOf(dataDir) })
  db.on('error', () => undefined)
  await db.connect()
  await makeUsers(db, USERS)
  await db.query(
    `insert into user_search (user_id, project_id, text) select id, project_id, concat_ws(E'\\x1f', external_id, email, phone) from users`,
  )
  await db.query('vacuum analyze user_search')
  await db.end()
}

async function signedIn(site: Site): Promise<BrowserContext> {
  const context = await site.context()
  const { email, password } = OWNER
  const reply = await context.request.post('/api/console/sign-in', { data: { email, password } })
  if (!reply.ok()) throw new Error(`The owner was not signed in: ${await reply.text()}`)
  return context
}

type StoredSession = Awaited<ReturnType<BrowserContext['storageState']>>

/** Visits with an empty cache, in turn of the console and of the bare page. */
async function firstVisits({ browser, url }: Site, storageState: StoredSession): Promise<void> {
  await using template = await serveTemplate()
  const visit = { bare: [] as Visit[], console: [] as Visit[] }
  for (let count = 0; count < VISITS; count++) {
    visit.bare.push(await visited(browser, { url: template.url, heading: 'Get started' }))
    visit.console.push(await visited(browser, { url: `${url}/p/1`, heading: 'Set up', storageState }))
  }
  const ready = (visits: Visit[]) => medianOf(visits.map(({ readyMs }) => readyMs))
  const [{ scriptBytes = Number.NaN } = {}] = visit.console
  report('first load of the console, kB of JavaScript', scriptBytes / 1000, 'compressed, with its home screen', '≤ 250')
  const ratio = ready(visit.console) / ready(visit.bare)
  report(
    'ready, of a bare Vite page',
    ratio,
    `${Math.round(ready(visit.console))} ms of ${Math.round(ready(visit.bare))} ms`,
    '≤ 3, ≤ 1500 ms',
  )
}

type Visit = { readyMs: number; scriptBytes: number }

async function visited(
  browser: Browser,
  { url, heading, storageState }: { url: string; heading: string; storageState?: StoredSession },
): Promise<Visit> {
  await using context = await browser.newContext(storageState && { storageState })
  const page = await context.newPage()
  const started = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByRole('heading', { name: heading }).first().waitFor()
  const readyMs = performance.now() - started
  await pause(IDLE_MS)
  return { readyMs, scriptBytes: await page.evaluate<number>(SCRIPT_BYTES) }
}

/** The compressed bytes of the scripts that a page has loaded. Runs in the page. */
const SCRIPT_BYTES = `performance.getEntriesByType('resource')
  .filter(({ name }) => name.endsWith('.js'))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`

/** From the request of a search to its rows, without the wait for the next key. */
async function filtered(page: Page): Promise<void> {
  await page.goto('/p/1/users')
  await page.getByRole('table', { name: 'Users' }).waitFor()
  let number = 0
  const took = await median(TRIES, async () => {
    const id = `person-${1 + Math.floor((++number * USERS) / (TRIES + 1))}`
    await page.getByLabel('Search users').fill(`${id}@example.com`)
    return page.evaluate<number>(drawnAfter(`q=${id}`, id))
  })
  report(`a search among ${USERS} users, ms`, took, 'from the request to its rows', '≤ 300')
}

/** Milliseconds from the start of a request to a frame that shows its only row. Runs in the page. */
const drawnAfter = (request: string, text: string): string => `new Promise((resolve) => {
  const look = () => {
    const entry = performance.getEntriesByType('resource').findLast(({ name }) => name.includes(${JSON.stringify(request)}))
    const rows = document.querySelectorAll('tbody tr')
    if (entry && rows.length === 1 && rows[0].textContent.includes(${JSON.stringify(text)})) resolve(performance.now() - entry.startTime)
    else requestAnimationFrame(look)
  }
  look()
})`

/** From a word that is typed into an email to the same word in its preview. */
async function previewed(page: Page, site: Site): Promise<void> {
  const { results } = await site.api('GET', 'subscriptions')
  const { id: subscription_id } = results.find(({ channel }: { channel: string }) => channel === 'email')
  const { id } = await site.api('POST', 'campaigns', { type: 'blast', name: 'Newsletter', subscription_id })
  const paragraphs = Array.from(
    { length: 100 },
    (_, at) => `<p>Paragraph ${at} for {{ user.data.first_name }}, with <a href="https://example.com/${at}">a link</a>.</p>`,
  )
  await site.api('PUT', `campaigns/${id}/templates/en`, {
    from: 'shop@example.com',
    subject: 'News',
    html: `<div>${paragraphs.join('\n')}</div>`,
  })
  await page.goto(`/p/1/campaigns/${id}/edit?step=content`)
  const frame = page.frameLocator('iframe.preview').first()
  await frame.getByText('Paragraph 99').waitFor()
  await page.locator('.cm-content').first().click()
  await page.keyboard.press('Control+Home')
  let number = 0
  const took = await median(TRIES, async () => {
    const word = `word${++number}x`
    const started = performance.now()
    await page.keyboard.insertText(`${word} `)
    await frame.getByText(word).first().waitFor()
    return performance.now() - started
  })
  report('a word in the preview of an email, ms', took, 'from the key, with the wait for the next one', '≤ 400')
}

/** A line of delays, as long as it may be drawn. */
function longJourney(): Record<string, unknown> {
  const at = { x: 0, y: 0 }
  const steps: [string, object][] = Array.from({ length: STEPS - 2 }, (_, number) => [
    `delay_${number}`,
    {
      type: 'delay',
      ...at,
      data: { format: 'duration', days: 1 },
      children: [{ external_id: number === STEPS - 3 ? 'end' : `delay_${number + 1}` }],
    },
  ])
  const start = {
    type: 'entrance',
    ...at,
    data: { trigger: 'event', event_name: 'go', multiple: true },
    children: [{ external_id: 'delay_0' }],
  }
  return { start, ...Object.fromEntries(steps), end: { type: 'exit', ...at } }
}

/** Drags the picture of a long journey up and down, and counts the frames. */
async function dragged(page: Page, site: Site): Promise<void> {
  const { id } = await site.api('POST', 'journeys', { name: 'Long' })
  await site.api('PUT', `journeys/${id}/steps`, longJourney())
  await page.goto(`/p/1/journeys/${id}`)
  const canvas = page.locator('.react-flow__pane')
  await page.locator('.react-flow__node').first().waitFor()
  const box = await canvas.boundingBox()
  if (!box) throw new Error('The canvas has no size.')
  const [x, y] = [box.x + 20, box.y + box.height / 2]
  await page.mouse.move(x, y)
  await page.mouse.down()
  const frames = page.evaluate<number>(countFrames(DRAG_MS))
  const started = performance.now()
  for (let count = 0; performance.now() - started < DRAG_MS; count++)
    await page.mouse.move(x + (count % 40), y + 200 * Math.sin(count / 20))
  await page.mouse.up()
  report('frames a second of a dragged journey', (1000 * (await frames)) / DRAG_MS, `${STEPS} steps`, '≥ 30')
}

/** Counts the frames of a time. Runs in the page. */
const countFrames = (ms: number): string => `new Promise((resolve) => {
  const until = performance.now() + ${ms}
  let frames = 0
  const next = () => {
    if (performance.now() >= until) return resolve(frames)
    frames++
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
})`

/** The memory of a tab that goes through 100 screens, against what it was after the 100 before them, when their code was compiled. */
async function memory(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const walk = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      for (const [key, screen] of Object.entries(SCREENS)) {
        await page.keyboard.press('g')
        await page.keyboard.press(key)
        await page.waitForURL(`**/p/1/${screen}*`)
        await page.locator('h1').first().waitFor()
      }
    }
  }
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage')
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN) / 1e6
  }
  await page.goto('/p/1')
  await page.getByRole('heading', { name: 'Set up' }).first().waitFor()
  await walk(10)
  const before = await heap()
  await walk(10)
  const after = await heap()
  report('memory of a tab after 100 screens', after / before, `${after.toFixed(1)} MB of ${before.toFixed(1)} MB`, '≤ 1.05')
}

const medianOf = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
