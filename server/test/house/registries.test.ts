import { expect, test } from 'vitest'
import { CHANNELS } from '../../src/lib/channels.ts'
import { filesUnder, read } from './sources.ts'

/** Files in the folder of conditions that are not conditions. */
const CONDITION_PARTS = ['condition.ts', 'comparison.ts', 'counted.ts', 'edge.ts', 'event-data.ts', 'fields.ts', 'path.ts', 'period.ts']

/** Files in the folder of steps that are not kinds of step. */
const STEP_PARTS = ['step.ts', 'effects.ts', 'event-names.ts', 'facts.ts', 'liquid.ts', 'settings.ts', 'wait-until.cases.ts']

/** The folders of kinds, each with an `index.ts` that registers them, and the files in each that are not kinds. */
const REGISTRIES: [folder: string, others: string[]][] = [
  ['channels/providers', []],
  ['channels/providers/recorded', []],
  ['journeys/steps', STEP_PARTS],
  ['overview/live/topics', ['topic.ts']],
  ['rules/conditions', CONDITION_PARTS],
  ['rules/operators', ['operator.ts', 'duration.ts', 'span.ts']],
  ['rules/words', ['words.ts']],
  ['subscriptions/keywords', ['keyword.ts']],
  ['subscriptions/pages/words', ['words.ts']],
  ['templates/kinds', ['template.ts']],
  ['templates/lints', ['lint.ts', 'find.ts', 'reading.ts']],
  ['tracking/bot-detection', ['detector.ts', 'detect-bot.ts']],
]

/** A folder whose files are groups of kinds: each file is exported as a whole. */
const GROUPS = { folder: 'webhook-events/types', others: ['members.ts'] }

const MODULES = 'server/src/modules'

/** The files directly in a folder that hold kinds. */
const kindsIn = (folder: string, others: string[]): string[] =>
  filesUnder(`${MODULES}/${folder}`)
    .map((path) => path.slice(`${MODULES}/${folder}/`.length))
    .filter((file) => !file.includes('/') && !file.endsWith('.test.ts') && !['index.ts', ...others].includes(file))

const namesIn = async (path: string): Promise<string[]> =>
  Object.keys(await import(/* @vite-ignore */ new URL(`../../src/modules/${path}`, import.meta.url).href)).sort()

test.each(REGISTRIES)('every kind in %s is registered under the name of its file', async (folder, others) => {
  const files = kindsIn(folder, others).map((file) => file.replace('.ts', '').replaceAll('-', '_'))
  expect(await namesIn(`${folder}/index.ts`)).toEqual(files.sort())
})

test(`every file in ${GROUPS.folder} is exported`, () => {
  const { text } = read(`${MODULES}/${GROUPS.folder}/index.ts`)
  const exported = [...text.matchAll(/^export \* from '\.\/(.+)'$/gm)].map(([, file]) => file)
  expect(exported.sort()).toEqual(kindsIn(GROUPS.folder, GROUPS.others))
})

test('every folder with a registry is listed here', () => {
  const folders = filesUnder(MODULES).flatMap((path) => /^server\/src\/modules\/((?:[\w-]+\/)+[\w-]+)\/index\.ts$/.exec(path)?.[1] ?? [])
  expect(folders).toEqual([...REGISTRIES.map(([folder]) => folder), GROUPS.folder].sort())
})

test.each(['channels/kinds.ts', 'templates/kinds/index.ts'])('every channel is in %s', async (path) => {
  expect(await namesIn(path)).toEqual([...CHANNELS].sort())
})
