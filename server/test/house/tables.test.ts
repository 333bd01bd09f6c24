import { describe, expect, test } from 'vitest'
import { INFRA_TABLES, moduleOf, owners, tables, tablesNamedIn } from './modules.ts'
import { sourcesOf } from './sources.ts'

const RULES = 'a rule is applied to any number of users and their events in one statement'

const MERGES = 'the memberships of merged users depend on who was merged into whom, and when'

/** Statements that use a table of another module, and the reason. */
const MAY: Record<string, string> = {
  'keys.findCredentials': 'every request is authenticated by this one statement, with the defaults of its project',
  'keys.findMemberKey': 'every request of the console is authenticated by this one statement, with the defaults of its project',
  'keys.insertMemberKey': 'a key is created only for a project of the organisation',
  'campaigns.listAllTemplates': 'templates are found by the names of their campaigns, in pages',
  'lists.ruleTables': 'rules own no tables: lists pass the tables that rules read',
  'lists.countByRule': RULES,
  'lists.hasUsers': RULES,
  'lists.saveBounds': RULES,
  'lists.fillFromMatches': RULES,
  'lists.fillUsers': RULES,
  'lists.fillTimes': RULES,
  'lists.findChunk': RULES,
  'lists.readTimes': RULES,
  'lists.firstMerged': MERGES,
  'lists.takeFormerTimes': MERGES,
  'lists.findByName': 'a request names up to a hundred users by their ids',
  'lists.lockUsers': 'users who are added to a list must not be merged meanwhile',
  'lists.isMember': 'a page of members is full although some of them are being erased',
  'lists.membersInZones': 'a schedule reads only the users in whose time zone it comes',
  'journeys.findVersions': 'the versions of an archived journey are read while a user is inside',
  'members.columns': 'the roles of a member in projects that are being deleted are not shown',
  'messages.submitted': 'email that applications submitted belongs to a user only by the address',
  'subscriptions.lockByPhone': 'STOP concerns every user with the number, and they must not be merged meanwhile',
  'subscriptions.unconfirmedAmong': 'a request for a confirmation is about the present address of the user',
  'subscriptions.usersWithAddress': 'an opt-out concerns every user with the address that the message went to',
  'subscriptions.lockUsers': 'users whose consent changes must not be merged meanwhile',
}

/** The tables of other modules that a module names in SQL. */
const trespasses = sourcesOf('server/src/modules').flatMap((source) =>
  tablesNamedIn(source).filter(({ table }) => owners.get(table) !== moduleOf(source.path)),
)

describe('tables', () => {
  test('every table has one owner, which lists it', () => {
    expect([...owners.keys(), ...INFRA_TABLES].sort()).toEqual([...tables].sort())
  })

  test('modules only use their own tables', () => {
    expect(trespasses.filter(({ statement }) => !Object.hasOwn(MAY, statement))).toEqual([])
  })

  test('rules use no tables', () => {
    expect(trespasses.filter(({ statement }) => statement.startsWith('rules.'))).toEqual([])
  })

  test('every exception is needed', () => {
    expect(Object.keys(MAY).filter((name) => !trespasses.some(({ statement }) => statement === name))).toEqual([])
  })
})
