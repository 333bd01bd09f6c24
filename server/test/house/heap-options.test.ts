/** Whatever starts a server has Node keep its heap small, as `docs/operate/running.md` promises. Options of the heap count from the start only. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { childEnvironment } from '../child-server.ts'
import { filesUnder, read } from './sources.ts'

const promised = /start Node with `(--[^`]+)`/.exec(read('docs/operate/running.md').text)?.[1]?.split(' ') ?? []

/** Options that are about something else. */
const isOfHeap = (option: string) => !/^--(?:watch|env-file=.*)$/.test(option)

/** The options of each command that starts `main.ts`: `node --a main.ts`, or `["node", "--a", "main.ts"]` over several lines. */
const startsIn = (text: string): string[][] =>
  [...text.replaceAll(/[\s"',[\]]+/g, ' ').matchAll(/\bnode ((?:-\S+ )*)server\/src\/main\.ts/g)].map(([, options = '']) =>
    options.split(' ').filter((option) => option !== '' && isOfHeap(option)),
  )

test('every command that starts a server has the options of the heap that operators are promised', () => {
  expect(promised.map((option) => option.split('=')[0])).toEqual(['--max-semi-space-size', '--heap-growing-percent'])
  const starts = ['package.json', 'compose.yaml', ...filesUnder('deploy')].flatMap((path) =>
    startsIn(read(path).text).map((options) => [path, ...options]),
  )
  // `npm start` and `npm run dev`.
  const places = ['package.json', 'package.json', 'deploy/docker/Dockerfile', 'deploy/systemd/carillon.service']
  expect(starts).toEqual(places.map((path) => [path, ...promised]))
})

test('`carillon` runs its commands with the same options', () => {
  const printing = `process.stdout.write(JSON.stringify(process.execArgv) + String.fromCharCode(10))`
  const env = { ...childEnvironment, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(printing)}` }
  const { stdout } = spawnSync(process.execPath, ['server/src/cli/carillon.mjs', '--version'], { env, encoding: 'utf8' })
  // The starter prints its own, which are none.
  expect(stdout.split('\n').slice(0, 2)).toEqual(['[]', JSON.stringify(promised)])
})

test('benchmarks measure a server that has them', () => {
  const measured = /HEAP_OPTIONS = \[([^\]]+)\]/.exec(read('bench/support.ts').text)?.[1]
  expect(measured?.match(/--[\w=-]+/g)).toEqual(promised)
})
