/** The options of all commands. They stand here, so that the help of a command loads no server. */
import type { Options } from './command.ts'

const json = { type: 'boolean', default: false, description: 'Print JSON instead of text.' } as const
const project = { type: 'string', value: 'ID', description: 'The project. Default: the first one.' } as const
const server = {
  url: { type: 'string', value: 'URL', description: 'The server. Default: http://127.0.0.1 with the PORT of the configuration.' },
  key: { type: 'string', value: 'KEY', description: 'A secret key. Default: the one in credentials.json in DATA_DIR.' },
} as const

/** The options of each command by its name. */
export const OPTIONS = {
  none: {},
  json: { json },
  keysCreate: {
    scope: { type: 'string', value: 'SCOPE', default: 'secret', description: 'secret, public or organisation. Default: secret.' },
    role: { type: 'string', value: 'ROLE', description: 'What the key may do. Default: admin.' },
    project,
    name: { type: 'string', value: 'NAME', default: 'Created on the command line', description: 'The name of the key.' },
  },
  keysRevoke: { project },
  keysList: { project, json },
  console: {
    reset: {
      type: 'string',
      value: 'EMAIL',
      description: 'Remove the second factors of the member with this email address, and print a link to set a new password.',
    },
  },
  listen: {
    port: { type: 'string', value: 'PORT', default: '0', description: 'The port to listen on. Default: a free one.' },
    events: { type: 'string', value: 'TYPES', default: 'all', description: 'Event types, separated by commas. Default: all.' },
    ...server,
    url: { ...server.url, default: 'http://127.0.0.1:3000' },
    'forward-to': { type: 'string', value: 'URL', description: 'Forward verified requests to this receiver.' },
    secret: { type: 'string', value: 'SECRET', description: 'The signing secret of the endpoint. Default: the server chooses one.' },
  },
  importFrom: {
    ...server,
    id: {
      type: 'string',
      value: 'HEADER',
      description: 'The column that contains the external ids of users. Default: the id column of the product.',
    },
    list: { type: 'string', value: 'ID', description: 'A static list that the users are added to.' },
    subscription: { type: 'string', value: 'ID', description: 'The subscription type that the subscription states in the export are for.' },
    topics: { type: 'string', value: 'TOPIC=ID,…', default: '', description: 'The id of the subscription type for each topic.' },
    types: { type: 'string', value: 'COLUMN=TYPE,…', default: '', description: 'The types of columns: text, number, boolean or date.' },
    reason: { type: 'string', value: 'REASON', description: 'The reason for suppressing the addresses in a file of suppressions.' },
    name: {
      type: 'string',
      value: 'NAME',
      description: 'The name of the campaign to create for a template. Default: the name in the file, if it has one.',
    },
    subject: {
      type: 'string',
      value: 'SUBJECT',
      description: 'The subject of a template. Default: the subject in the file, if it has one.',
    },
    locale: { type: 'string', value: 'LOCALE', default: 'en', description: 'The locale of a template. Default: en.' },
    'dry-run': { type: 'boolean', default: false, description: 'Read the file and send nothing.' },
  },
  request: {
    data: { type: 'string', value: 'JSON', description: 'The body of the request.' },
    ...server,
    key: { ...server.key, description: 'A key. Default: SECRET_KEY from the environment, or the one in credentials.json in DATA_DIR.' },
  },
  replay: {
    since: { type: 'string', value: 'TIME', description: 'Events from this time, such as 2026-11-20T09:00:00Z. Required.' },
    until: { type: 'string', value: 'TIME', description: 'Events up to this time. Default: now.' },
    events: { type: 'string', value: 'TYPES', description: 'Event types, separated by commas. Default: those of the endpoint.' },
    'unaccepted-only': { type: 'boolean', default: false, description: 'Leave out events that the endpoint has accepted.' },
    ...server,
    json,
  },
  seed: {
    users: { type: 'string', value: 'N', default: '200', description: 'The number of users. Default: 200.' },
    seed: { type: 'string', value: 'N', default: '1', description: 'The seed: the same seed gives the same data. Default: 1.' },
    ...server,
  },
} as const satisfies Record<string, Options>
