import { expect, test } from 'vitest'
import { CHANNELS } from '../../src/lib/channels.ts'
import { filesUnder, read } from './sources.ts'

/** What conditions are made of. */
const CONDITION_PARTS = ['condition.ts', 'comparison.ts', 'counted.ts', 'edge.ts', 'event-data.ts', 'fields.ts', 'path.ts', 'period.ts']

/** A folder of kinds, the file that registers them, and the files in it that are no kind. */
const REGISTRIES: [folder: string, registry: string, others: string[]][] = [
  ['channels/providers', 'index.ts', []],
  ['channels/providers/recorded', 'index.ts', []],
  ['journeys/steps', 'index.ts', ['step.ts']],
  ['rules/conditions', 'index.ts', CONDITION_PARTS],
  ['rules/operators', 'index.ts', ['operator.ts', 'duration.ts', 'span.ts']],
  ['subscriptions/keywords', 'index.ts', ['keyword.ts']],
  ['subscriptions/pages/words', 'index.ts', ['words.ts']],
  ['templates/kinds', 'index.ts', ['template.ts']],
  ['templates/lints', 'index.ts', ['lint.ts', 'find.ts', 'reading.ts']],
  ['tracking/bot-detection', 'index.ts', ['detector.ts', 'detect-bot.ts']],
  ['webhook-events/types', 'index.ts', ['members.ts']],
]

test.each(REGISTRIES)('every kind in %s is registered under its own name', (folder, registry, others) => {
  const path = `server/src/modules/${folder}`
  const files = filesUnder(path)
    .map((file) => file.slice(path.length + 1))
    .filter((file) => !file.includes('/'))
  const kinds = files.filter((file) => !file.endsWith('.test.ts') && ![registry, ...others].includes(file))
  const { text } = read(`${path}/${registry}`)
  expect([...text.matchAll(/^export .* from '\.\/(.+)'$/gm)].map(([, file]) => file).sort()).toEqual(kinds)
  for (const [, name = '', file = ''] of text.matchAll(/^export \{ (?:\w+ as )?(\w+) \} from '\.\/(.+)\.ts'$/gm)) {
    expect(file.replaceAll('-', '_')).toBe(name)
  }
})

test('every folder of kinds is known here', () => {
  const folders = filesUnder('server/src/modules').flatMap(
    (path) => /^server\/src\/modules\/((?:[\w-]+\/)+[\w-]+)\/index\.ts$/.exec(path)?.[1] ?? [],
  )
  expect(folders).toEqual(REGISTRIES.map(([folder]) => folder).sort())
})

test('every channel has its file', () => {
  const { text } = read('server/src/modules/channels/kinds.ts')
  const registered = [...text.matchAll(/^export \{ (?:\w+ as )?(\w+) \} from/gm)].map(([, name]) => name)
  expect(registered).toEqual([...CHANNELS].sort())
})
