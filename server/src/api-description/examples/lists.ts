/** Lists, rules and imports. */
import type { Words } from '../../infra/http/openapi/words.ts'
import { CHANGED, CREATED, of, since } from './times.ts'
import { user } from './users.ts'

const rule = { attribute: 'data.plan', is: 'pro' }

const list = {
  ...of(12),
  name: 'Pro customers',
  type: 'dynamic',
  tags: ['shop'],
  rule,
  description: 'plan is “pro”',
  state: 'ready',
  progress: 1,
  users_count: 812,
  ...since,
}

const started = {
  id: 21,
  list_id: 13,
  state: 'queued',
  reason: null,
  dry_run: false,
  update_existing: true,
  consent_source: 'Sign-up form, November 2026',
  subscription_ids: [1],
  filename: 'customers.csv',
  file_sha256: 'b8a7ab2ff1b6cf0e90ec8d4e29ef4d2ee4f06bde4ba35d8b01e9b5d4d2d9c5ad',
  rows_total: 2,
  rows: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  added: 0,
  removed: 0,
  restored: 0,
  bytes: 118,
  delimiter: ',',
  mapping: { external_id: 'external_id', email: 'email', plan: 'data.plan' },
  guesses: {},
  columns: ['external_id', 'email', 'plan'],
  progress: 0,
  created_at: CREATED,
  started_at: null,
  finished_at: null,
  undone_at: null,
}

const finished = {
  ...started,
  state: 'finished',
  rows: 2,
  created: 1,
  failed: 1,
  added: 1,
  progress: 1,
  started_at: CREATED,
  finished_at: CREATED,
}

const condition = {
  label: 'List',
  description: 'Users in another list. Lists must not refer to each other in a cycle.',
  schema: {
    type: 'object',
    required: ['list'],
    properties: { list: { type: 'integer', minimum: 1, description: 'The id of the list.' } },
    additionalProperties: false,
  },
  example: { list: 12 },
  sentence: 'in the list 12',
}

const group = {
  label: 'Not',
  description: 'Users who do not match the rule in the group.',
  schema: { type: 'object', required: ['not'], properties: { not: { type: 'object' } }, additionalProperties: false },
  example: { not: rule },
  sentence: 'not (plan is “pro”)',
}

export const listExamples = {
  List: list,
  ListInput: { name: 'Pro customers', type: 'dynamic', rule, tags: ['shop'] },
  ListChanges: { name: 'Regulars', rule: { event: 'order_placed', at_least: 3, within: '30d' } },
  ListSizeList: {
    since: '2026-10-22',
    results: [
      {
        list_id: 12,
        days: [
          { day: '2026-11-19', users: 806 },
          { day: '2026-11-20', users: 812 },
        ],
      },
    ],
  },
  ListTagList: { results: [{ tag: 'shop', lists: 3 }] },
  ListUserInput: { external_ids: ['customer-1042', 'customer-9999'] },
  ListUserReply: { added: 1, unchanged: 0, missing: ['customer-9999'] },
  ListUserReply2: { removed: 1, unchanged: 0, missing: ['customer-9999'] },
  UserSearchPage: { results: [user], nextCursor: null, prevCursor: null, limit: 25, description: 'plan is “pro”' },
  ListPreviewInput: { rule },
  ListPreviewReply: {
    count: 812,
    reach: [
      { channel: 'email', count: 790 },
      { channel: 'text', count: 340 },
      { channel: 'push', count: 415 },
      { channel: 'webhook', count: 812 },
      { channel: 'in_app', count: 812 },
    ],
    users: [user],
    conditions: [{ path: 'rule', description: 'plan is “pro”', count: 812 }],
    sampled: false,
  },
  ListOfUser: { id: 12, name: 'Pro users', type: 'dynamic', since: CREATED },
  ListUserExplainReply: {
    list_id: 12,
    user_id: 1042,
    member: true,
    since: CREATED,
    evaluated_at: CHANGED,
    holds: true,
    next_check_at: null,
    explanation: { path: '', is: 'condition', passes: true, condition: rule, seen: 'pro' },
  },
  ListImport: finished,
  ListImportReply: {
    ...finished,
    dry_run: true,
    first_rows: [{ line: 2, external_id: 'customer-1042', email: 'kim@example.com', data: { plan: 'pro' } }],
  },
  RuleMeta: {
    groups: { not: group },
    conditions: { list: condition },
    attributes: { email: { label: 'email', type: 'string' } },
    operators: {
      is_set: { label: 'is set', types: ['string', 'array'], argument: { type: 'boolean' }, example: true, sentence: 'is set' },
    },
    limits: { levels: 8, conditions: 100 },
  },
}

export const listOperations: Words['operations'] = {
  createList: { reply: { ...list, state: 'building', progress: 0, users_count: 0 } },
  importList: {
    body: 'external_id,email,plan\ncustomer-1042,kim@example.com,pro\ncustomer-1043,not an address,pro\n',
    reply: started,
  },
  undoListImport: { reply: { ...finished, state: 'undoing' } },
  cancelListImport: { reply: { ...started, state: 'cancelled', finished_at: CREATED } },
  listListImportErrors: {
    reply:
      'line,code,message,external_id,email,plan\n3,parameter_invalid_format,"The value of `email` is not a valid email address; write it like `kim@example.com`, an international domain in its `xn--` form.",customer-1043,not an address,pro\n',
  },
}
