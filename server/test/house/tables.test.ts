import { describe, expect, test } from 'vitest'
import { read, sourcesOf } from './sources.ts'
import { templatesOf } from './statements.ts'

const RULES = 'a rule is applied to people and what they did in one statement, however many they are'

const MERGES = 'what was kept of people that turned out to be one depends on who became whom, and when'

/** Statements that read a table of another module, and why they may. */
const MAY: Record<string, string> = {
  'keys.findCredential': 'every request is authenticated by this one statement, with the defaults of its project',
  'rules.matchingUsers': RULES,
  'lists.countByRule': RULES,
  'lists.countUsers': RULES,
  'rules.device': RULES,
  'rules.list': RULES,
  'rules.ofTimes': RULES,
  'lists.fillFromMatches': RULES,
  'lists.fillUsers': RULES,
  'lists.fillTimes': RULES,
  'lists.findChunk': RULES,
  'lists.readTimes': RULES,
  'rules.subscription': RULES,
  'lists.firstMerged': MERGES,
  'lists.takeFormerTimes': MERGES,
  'lists.findByName': 'a hundred people are named by their ids at once',
  'lists.lockUsers': 'whoever is put into a list must not be merged away meanwhile',
  'lists.isMember': 'a page of members is full although some of them are being erased',
  'subscriptions.lockByPhone': 'whoever writes STOP means everybody with that number, who must not be merged away meanwhile',
  'subscriptions.lockUsers': 'whose consent changes must not be merged away meanwhile',
  'lists.subscriptionNames': 'a rule is described by the names of what it mentions, for a page of lists at once',
}

const tables = [...read('server/schema.sql').text.matchAll(/^create table (\w+)/gm)].map(([, name]) => name as string)
const doors = sourcesOf('server/src/modules').filter(({ path }) => /modules\/[\w-]+\/index\.ts$/.test(path))

/** What a module says in its first paragraph that it owns. */
const ownedBy = ({ text }: { text: string }) => {
  const paragraph = text.slice(0, text.indexOf('*/')).replaceAll(/\n \* ?/g, ' ')
  const sentence = /\bOwns ((?:`\w+`(?: \([^)]*\))?(?:, | and )?)+)/.exec(paragraph)?.[1] ?? ''
  return [...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name as string)
}

const owners = new Map(doors.flatMap((door) => ownedBy(door).map((table) => [table, /modules\/([\w-]+)\//.exec(door.path)?.[1] as string])))

/** Tables of nobody in particular: those of infra. */
const INFRA = [
  'queue_entries',
  'idempotency_records',
  'parked_items',
  'queue_partitions',
  'queue_batches',
  'rate_buckets',
  'schema_migrations',
  'usage_counters',
]

describe('tables', () => {
  test('each has one owner, who says so', () => {
    expect([...owners.keys(), ...INFRA].sort()).toEqual([...tables].sort())
  })

  test('a module speaks of its own tables only', () => {
    const trespasses = sourcesOf('server/src/modules').flatMap((source) => {
      const module = /modules\/([\w-]+)\//.exec(source.path)?.[1]
      return templatesOf(source).flatMap(({ name, text }) =>
        [...text.matchAll(/\b(?:from|join|into|update|copy|using) (\w+)/g)]
          .map(([, table]) => table as string)
          .filter((table) => tables.includes(table) && owners.get(table) !== module)
          .map((table) => `${name}: ${table}`),
      )
    })
    expect(trespasses.filter((trespass) => !Object.hasOwn(MAY, trespass.split(':')[0] as string))).toEqual([])
  })
})
