import { describe, expect, test } from 'vitest'
import { sourcesOf } from './sources.ts'
import { isStatement, type Template, templatesOf } from './statements.ts'

/** Statements that speak of no project, or of all, and why they may. `projects.*` is the wall itself. */
const MAY: Record<string, string> = {
  'campaigns.findPendingActions': 'finds the projects that have work',
  'campaigns.findDue': 'finds the projects that have work',
  'campaigns.findRunning': 'finds the projects that have work',
  'campaigns.findUndecided': 'finds the projects that have work',
  'channels.findCalled': 'the address of a callback is what says which project',
  'events.listMonths': 'reads the catalogue of PostgreSQL',
  'events.lockMonths': 'a lock, no table',
  'events.createMonth': 'partitions are by month',
  'events.createOldestMonth': 'partitions are by month',
  'events.deleteNames': 'a removal by age, the same for all',
  'events.deleteFromOldestMonth': 'a removal by age, the same for all',
  'events.dropMonthTables': 'partitions are by month',
  'events.findRemoval': 'a removal by age, the same for all',
  'events.followIndex': 'a setting, no table',
  'events.limitLockWait': 'a setting, no table',
  'events.noteDropped': 'a removal by age, the same for all',
  'events.noteFollowed': 'a removal by age, the same for all',
  'events.noteComplete': 'a removal by age, the same for all',
  'events.findUnfollowed': 'a removal by age, the same for all',
  'events.oldestMonthPages': 'a size, no table',
  'events.purgeEventIds': 'a purge by age, the same for all',
  'imports.importsDue': 'finds the projects that have work',
  'imports.importToClear': 'finds the projects that have work',
  'imports.importToPurge': 'finds the projects that have work',
  'imports.purgeUploads': 'a purge by age, the same for all',
  'inbox.findExpired': 'finds the messages that have expired, of all projects',
  'keys.findCredential': 'the key is what says which project',
  'messages.queueDepth': 'counts for the operator, over all projects',
  'messages.queuesDue': 'finds the projects that have work',
  'messages.newMessageId': 'a sequence, no table',
  'lists.dropMatches': 'a table of one scan, which is of one project',
  'lists.findRetired': 'finds the projects that have work',
  'lists.findUnfinished': 'finds the projects that have work',
  'lists.indexMatches': 'a table of one scan, which is of one project',
  'lists.isWhole': 'a table of one scan, which is of one project',
  'lists.limitStatements': 'settings, no table',
  'lists.lockLists': 'a lock, no table',
  'lists.lockAllShared': 'a lock, no table',
  'lists.tryLockAll': 'a lock, no table',
  'lists.lockRules': 'a lock, no table',
  'lists.searchNear': 'names it by way of the search that it asks each row',
  'lists.openMatches': 'a table of one scan, which is of one project',
  'lists.partitions': 'reads the catalogue of PostgreSQL',
  'lists.projectsAhead': 'finds the projects that have work',
  'lists.projectsWithRules': 'finds the projects that have work',
  'webhook-events.purgeWebhookEvents': 'a purge by age, the same for all',
  'tracking.findVerifiedHost': 'the host is what says which project',
  'tracking.lockClaims': 'a host is verified for one project among all that name it',
  'users.findErasable': 'finds the projects that have work',
  'users.claimProfiling': 'finds the projects that have work',
  'users.reserveIds': 'a sequence, no table',
  'webhooks.countByStatus': 'counts for the operator, over all projects',
  'webhooks.queueDepth': 'counts for the operator, over all projects',
  'webhooks.purgeDeliveries': 'a purge by age, the same for all',
  'webhooks.purgeSecrets': 'a purge by age, the same for all',
}

const NAMES_PROJECT = /\bproject_id\s*=|\b(?:insert into|copy) \w+(?: as \w+)? \([^)]*\bproject_id\b/

const sources = sourcesOf('server/src')

/** Rules are made of parts, each of which says in one place what it means in memory and in SQL. */
const PARTS_OF_RULES = /^server\/src\/modules\/rules\/(operators\/|conditions\/|sql\.ts$)/

const isQueries = ({ path }: { path: string }) => /^server\/src\/modules\/.*[/.]queries\.ts$/.test(path)

/** The statements of a file that name no project, neither themselves nor by a part they are made of. */
function nameless(templates: Template[]): string[] {
  const parts = templates.filter((template) => !isStatement(template) && NAMES_PROJECT.test(template.text))
  const names = new Set(parts.map(({ name }) => name.split('.')[1]))
  const statements = templates.filter((template) => isStatement(template) && !NAMES_PROJECT.test(template.text))
  return statements.filter(({ text }) => ![...text.matchAll(/\$\{(\w+)/g)].some(([, part]) => names.has(part))).map(({ name }) => name)
}

describe('SQL', () => {
  const found = sources.filter(isQueries).flatMap((source) => nameless(templatesOf(source)))

  test('every statement names its project, or has a reason not to', () => {
    expect(found.filter((name) => !name.startsWith('projects.') && !Object.hasOwn(MAY, name))).toEqual([])
  })

  test('no exception is left over', () => {
    expect(Object.keys(MAY).filter((name) => !found.includes(name))).toEqual([])
  })

  test('a nameless statement would be found', () => {
    const file = {
      path: 'server/src/modules/users/queries.ts',
      text: 'const byId = (id: number) => sql`select id, project_id from users where id = 7`',
    }
    expect(nameless(templatesOf(file))).toEqual(['users.byId'])
  })

  test('it is written in queries.ts, infra and the parts of rules only', () => {
    const elsewhere = sources.filter(
      (source) => !isQueries(source) && !source.path.startsWith('server/src/infra/') && !PARTS_OF_RULES.test(source.path),
    )
    expect(
      elsewhere.filter(({ text }) => /(?<!`)\bsql`|\bdb\.(many|one|value|first|run|copy)\(/.test(text)).map(({ path }) => path),
    ).toEqual([])
  })

  test('no statement asks for every column of a table', () => {
    const greedy = sources.flatMap(templatesOf).filter(({ text }) => /select \*\s+from (?!\w+_to_recordset|unnest|\$\{)/.test(text))
    expect(greedy.map(({ name }) => name)).toEqual([])
  })
})
