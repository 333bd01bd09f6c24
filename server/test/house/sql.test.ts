import { describe, expect, test } from 'vitest'
import { sourcesOf } from './sources.ts'
import { isStatement, type Template, templatesOf } from './statements.ts'

/** Statements without a project, and the reason. The statements of `projects` are exempt, because they find projects. */
const MAY: Record<string, string> = {
  'campaigns.findPendingActions': 'finds the projects that have work',
  'campaigns.findDue': 'finds the projects that have work',
  'campaigns.findRunning': 'finds the projects that have work',
  'campaigns.findUndecided': 'finds the projects that have work',
  'campaigns.nextLaunchAt': 'finds when the next work of any project is due',
  'campaigns.pendingActionSince': 'finds when the next work of any project is due',
  'campaigns.runningSince': 'finds when the next work of any project is due',
  'campaigns.nextChoiceAt': 'finds when the next work of any project is due',
  'campaigns.preflightSince': 'finds when the next work of any project is due',
  'inbox.nextExpiryAt': 'finds when the next work of any project is due',
  'lists.nextChunkAt': 'finds when the next work of any project is due',
  'lists.nextMembershipDueAt': 'finds when the next work of any project is due',
  'mta.nextMailLeaseEnd': 'finds when the next work of any project is due',
  'mta.nextHeldExpiry': 'finds when the next work of any project is due',
  'mta.projectsWithMail': 'finds the projects that have work',
  'mta.nextMailAt': 'finds when the next work of any project is due',
  'campaigns.findUnpaused': 'counts for the operator, over all projects',
  'messages.messageProgressOf': 'counts for the operator, over all projects',
  'mta.mailDepth': 'counts for the operator, over all projects',
  'mta.releaseMailLeases': 'queues the work of processes that stopped, of all projects',
  'mta.releaseExpired': 'held email of all projects expires',
  'messages.nextLeaseEnd': 'finds when the next work of any project is due',
  'users.lockToken': 'a lock, no table',
  'users.nextProfilingAt': 'finds when the next work of any project is due',
  'webhook-events.nextDispatchAt': 'finds when the next work of any project is due',
  'webhooks.nextAttemptAt': 'finds when the next work of any project is due',
  'webhooks.nextReplayAt': 'finds when the next work of any project is due',
  'channels.findCalled': 'the provider in the callback URL identifies the project',
  'events.listMonths': 'reads the catalogue of PostgreSQL',
  'events.lockMonths': 'a lock, no table',
  'events.createPartition': 'partitions are by month',
  'events.deleteNameTotals': 'removes what is empty, over all projects',
  'events.deleteDayTotals': 'removes by age, over all projects',
  'events.projectsToTotal': 'finds the projects that have work',
  'events.deleteFromOldestMonth': 'removes by age, over all projects',
  'events.dropMonthTables': 'partitions are by month',
  'events.findRemoval': 'removes by age, over all projects',
  'events.followIndex': 'a setting, no table',
  'events.limitLockWait': 'a setting, no table',
  'events.noteDropped': 'removes by age, over all projects',
  'events.noteFollowed': 'removes by age, over all projects',
  'events.noteComplete': 'removes by age, over all projects',
  'events.findUnfollowed': 'removes by age, over all projects',
  'events.oldestMonthPages': 'a size, no table',
  'events.purgeEventIds': 'purges by age, over all projects',
  'imports.importsDue': 'finds the projects that have work',
  'imports.importToClear': 'finds the projects that have work',
  'imports.importToPurge': 'finds the projects that have work',
  'imports.importsToUndo': 'finds the projects that have work',
  'imports.importsWithOldChanges': 'finds the projects that have work',
  'imports.oldestImportPosition': 'a position in the queue of all projects',
  'imports.purgeUploads': 'purges by age, over all projects',
  'inbox.findExpired': 'finds the messages that have expired, of all projects',
  'keys.findCredentials': 'the key identifies the project',
  'keys.credentialsVersion': 'one number of the instance',
  'members.countFailure': 'counts by an address, which may be that of no member',
  'members.blockedUntil': 'counts by an address, which may be that of no member',
  'members.clearFailures': 'counts by an address, which may be that of no member',
  'members.purgeFailures': 'purges by age, over all organisations',
  'members.purgeSessions': 'purges by age, over all organisations',
  'members.deleteExpiredLinks': 'purges by age, over all organisations',
  'members.deleteLink': 'the link identifies the organisation',
  'members.hasLink': 'the link identifies the organisation',
  'members.findSession': 'the session identifies the organisation',
  'members.findPasskey': 'the credential identifies the organisation',
  'members.insertChallenge': 'a challenge identifies the member, and that of a sign-in has none',
  'members.useChallenge': 'a challenge identifies the member, and that of a sign-in has none',
  'members.purgeChallenges': 'purges by age, over all organisations',
  'members.insertRedirect': 'a sign-in has no member before',
  'members.useRedirect': 'a sign-in has no member before',
  'members.purgeRedirects': 'purges by age, over all organisations',
  'members.useIdentity': 'the identity identifies the organisation',
  'members.findByEmail': 'the address of a member identifies the organisation',
  'members.lockMembers': 'a lock, no table',
  'members.lockObject': 'a lock, no table',
  'members.insertMail': 'a mail of the server: its address may be that of no member',
  'members.claimMail': 'a mail of the server: its address may be that of no member',
  'members.changeMail': 'a mail of the server: its address may be that of no member',
  'members.deleteMail': 'a mail of the server: its address may be that of no member',
  'members.delayMail': 'a mail of the server: its address may be that of no member',
  'members.nextMailAt': 'finds when the next work is due',
  'members.rolesOf': 'the roles of one member in every project',
  'messages.campaignsWithAddresses': 'finds the projects that have work',
  'messages.queueDepth': 'counts for the operator, over all projects',
  'messages.waitingQueues': 'finds the projects that have work',
  'messages.newMessageId': 'a sequence, no table',
  'messages.reserveIds': 'a sequence, no table',
  'lists.allow': 'settings, no table',
  'lists.allowLongStatements': 'settings, no table',
  'lists.collectTimes': 'a table of one scan, which is of one project',
  'lists.dropMatches': 'a table of one scan, which is of one project',
  'lists.findUnfinished': 'finds the projects that have work',
  'lists.hasUserStatistics': 'reads the catalogue of PostgreSQL',
  'lists.indexTimes': 'a table of one scan, which is of one project',
  'lists.isWhole': 'a table of one scan, which is of one project',
  'lists.limitStatements': 'settings, no table',
  'lists.holdPart': 'a lock, no table',
  'lists.lockLists': 'a lock, no table',
  'lists.lockAllShared': 'a lock, no table',
  'lists.tryLockAll': 'a lock, no table',
  'lists.waitForParts': 'a lock, no table',
  'lists.lockRules': 'a lock, no table',
  'lists.tryLockRules': 'a lock, no table',
  'lists.searchNear': 'names it in the search condition of each row',
  'lists.openMatches': 'a table of one scan, which is of one project',
  'lists.partitions': 'reads the catalogue of PostgreSQL',
  'lists.projectsWithDueMemberships': 'finds the projects that have work',
  'lists.projectsAhead': 'finds the projects that have work',
  'lists.projectsWithRules': 'finds the projects that have work',
  'journeys.lockBacktests': 'a lock, no table',
  'journeys.countCalls': 'a metric of the server',
  'journeys.projectsAhead': 'finds the projects that have work',
  'positions.countWaiting': 'a metric of the server',
  'journeys.nextBacktestAt': 'finds when the next work of any project is due',
  'journeys.nextCallAt': 'finds when the next work of any project is due',
  'journeys.nextSweepAt': 'finds when the next work of any project is due',
  'journeys.dueSweeps': 'finds the projects that have work',
  'journeys.lockClaims': 'a lock, no table',
  'journeys.heldJourneys': 'finds the timers that are not due, over all projects',
  'positions.listMonths': 'reads the catalogue of PostgreSQL',
  'positions.lockMonths': 'a lock, no table',
  'positions.limitLockWait': 'a setting, no table',
  'positions.createMonth': 'partitions are by month',
  'positions.dropMonths': 'partitions are by month',
  'positions.deleteRest': 'removes by age, over all projects',
  'webhook-events.projectsWithEvents': 'finds the projects that have work',
  'webhook-events.nextPosition': 'a sequence, no table',
  'webhook-events.transactionsStoring': 'the locks of the database, no table',
  'webhook-events.purgeWebhookEvents': 'purges by age, over all projects',
  'mta.reportProcess': 'a process delivers email of all projects',
  'mta.statesOf': 'a process delivers email of all projects',
  'templates.storesMjml': 'looks at templates of all projects when the server starts',
  'domains.findVerifiedHost': 'the host identifies the project',
  'domains.verifiedHosts': 'a request has no project before its host is known',
  'domains.nextCheckAt': 'finds when the next work of any project is due',
  'domains.lockClaims': 'a host is verified for only one of the projects that have it',
  'users.findErasable': 'finds the projects that have work',
  'users.purgeErasedIds': 'deletes what is old in every project',
  'users.claimProfiling': 'finds the projects that have work',
  'users.inputOf': 'the users of a document as rows, each with the project of its call',
  'webhooks.countByStatus': 'counts for the operator, over all projects',
  'webhooks.queueDepth': 'counts for the operator, over all projects',
  'webhooks.purgeDeliveries': 'purges by age, over all projects',
  'webhooks.purgeReplays': 'purges by age, over all projects',
  'webhooks.purgeHours': 'purges by age, over all projects',
  'webhooks.purgeSecrets': 'purges by age, over all projects',
}

/** Statements that read an index from one project to the next without `firstOfEach`. */
const BY_HAND = ['journeys.claimCalls', 'messages.waitingQueues', 'positions.nextTimers']

const NAMES_PROJECT = /\bproject_id\s*=|\b(?:insert into|copy) \w+(?: as \w+)? \([^)]*\bproject_id\b/

/** Members, and their keys, are of an organisation. */
const NAMES_ORGANISATION = /\borganization_id\s*=|\binsert into \w+(?: as \w+)? \([^)]*\borganization_id\b/
const OF_ORGANISATIONS = ['members', 'keys']

const isOwned = ({ name, text }: Template) =>
  NAMES_PROJECT.test(text) || (OF_ORGANISATIONS.includes(name.split('.')[0] as string) && NAMES_ORGANISATION.test(text))

const sources = sourcesOf('server/src')

/** The parts of rules, which are evaluated in memory and in SQL by the same file. */
const PARTS_OF_RULES = /^server\/src\/modules\/rules\/(operators\/|conditions\/|sql\.ts$)/

const isQueries = ({ path }: { path: string }) => /^server\/src\/modules\/.*[/.]queries\.ts$/.test(path)

/** The statements of a file that name no project, neither directly nor in one of their parts. */
function nameless(templates: Template[]): string[] {
  const parts = templates.filter((template) => !isStatement(template) && NAMES_PROJECT.test(template.text))
  const names = new Set(parts.map(({ name }) => name.split('.')[1]))
  const statements = templates.filter((template) => isStatement(template) && !isOwned(template))
  return statements.filter(({ text }) => ![...text.matchAll(/\$\{(\w+)/g)].some(([, part]) => names.has(part))).map(({ name }) => name)
}

describe('SQL', () => {
  const found = sources.filter(isQueries).flatMap((source) => nameless(templatesOf(source)))

  test('every statement names its project, or its organisation, or is an exception', () => {
    expect(found.filter((name) => !name.startsWith('projects.') && !Object.hasOwn(MAY, name))).toEqual([])
  })

  test('every exception is needed', () => {
    expect(Object.keys(MAY).filter((name) => !found.includes(name))).toEqual([])
  })

  test('a statement without a project is found', () => {
    const file = {
      path: 'server/src/modules/users/queries.ts',
      text: 'const byId = (id: number) => sql`select id, project_id from users where id = 7`',
    }
    expect(nameless(templatesOf(file))).toEqual(['users.byId'])
  })

  test('an index is read from one project to the next by `firstOfEach`', () => {
    const byHand = sources.filter(isQueries).flatMap(templatesOf)
    expect(byHand.filter(({ text }) => /with recursive (?!\$\{)/.test(text)).map(({ name }) => name)).toEqual(BY_HAND)
  })

  test('SQL is only in queries.ts, infra and the parts of rules', () => {
    const elsewhere = sources.filter(
      (source) => !isQueries(source) && !source.path.startsWith('server/src/infra/') && !PARTS_OF_RULES.test(source.path),
    )
    expect(
      elsewhere.filter(({ text }) => /(?<!`)\bsql`|\bdb\.(many|one|value|first|run|copy)\(/.test(text)).map(({ path }) => path),
    ).toEqual([])
  })

  test('no statement selects all columns of a table', () => {
    const greedy = sources.flatMap(templatesOf).filter(({ text }) => /select \*\s+from (?!\w+_to_recordset|unnest|\$\{)/.test(text))
    expect(greedy.map(({ name }) => name)).toEqual([])
  })
})
