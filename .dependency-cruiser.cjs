/** Who may import whom. A new arrow is a reviewed change to this file; one that nothing uses is deleted (`house/arrows.test.ts`). */

/** The modules that each module may use, always by their front door. */
const ARROWS = {
  projects: [],
  'webhook-events': [],
  tools: [],
  rules: [],
  keys: ['projects'],
  members: ['audit', 'keys', 'projects'],
  users: ['keys', 'projects'],
  events: ['users'],
  ingest: ['users', 'events'],
  activity: ['users', 'events'],
  audit: ['projects'],
  'api-log': [],
  system: ['projects'],
  inbox: ['users'],
  subscriptions: ['users', 'projects'],
  lists: ['rules', 'positions', 'users', 'events', 'subscriptions', 'projects'],
  imports: ['lists', 'users', 'subscriptions'],
  mta: [],
  domains: ['tools', 'projects'],
  tracking: ['domains', 'events', 'users', 'projects'],
  channels: ['mta', 'domains', 'projects'],
  templates: ['subscriptions', 'users', 'projects'],
  messages: [
    'templates',
    'channels',
    'lists',
    'subscriptions',
    'domains',
    'tracking',
    'mta',
    'inbox',
    'events',
    'users',
    'webhook-events',
    'projects',
  ],
  campaigns: ['messages', 'templates', 'lists', 'rules', 'channels', 'domains', 'tracking', 'subscriptions', 'events', 'users', 'projects'],
  positions: [],
  journeys: ['positions', 'campaigns', 'messages', 'subscriptions', 'lists', 'rules', 'events', 'users', 'projects'],
  webhooks: ['webhook-events', 'audit', 'projects'],
  overview: [
    'api-log',
    'messages',
    'imports',
    'campaigns',
    'journeys',
    'positions',
    'lists',
    'channels',
    'domains',
    'subscriptions',
    'events',
    'users',
    'mta',
    'webhooks',
  ],
}

const TESTS = '[.]test[.]ts$'
/** `tasks.ts` is the door for what runs in worker threads, so that a thread does not load the rest of a module
 * (`house/threads.test.ts`). */
const FRONT_DOOR = '^server/src/modules/[^/]+/(index|tasks)[.]ts$'

/** What of Node computes and touches nothing outside. Of `net` that is isIP and BlockList; a house test holds lib to them. */
const PURE_NODE = '^(node:)?(buffer|crypto|net|url|util|zlib)$'

/**
 * What of Node reaches outside of the process, and the files of server/src that may use it. Everything else asks `infra`; a house test
 * deletes the places that do not use it.
 */
const NODE_PLACES = {
  // outgoing: host names, and records for the checks of domains. servers: the name servers of the system.
  dns: ['infra/outgoing/dns/(servers|system).ts'],
  // exchange: questions to name servers.
  dgram: ['infra/outgoing/dns/exchange.ts'],
  // incoming: sockets of SMTP clients. outgoing: connections. connections: their number and silence. embedded-postgres: a free port. hosts: a connection
  // to one of the servers behind a name. listen, app, ops-listener: the address that is listened
  // on. The others: isIP and BlockList.
  net: [
    'infra/http/(connections|ops-listener).ts',
    'infra/incoming/',
    'infra/outgoing/',
    'infra/postgres/(embedded-postgres|hosts).ts',
    'app.ts',
    'cli/listen.ts',
    'lib/(egress|name-servers|urls).ts',
    'modules/mta/reports/feedback.ts',
    'modules/tools/spf.ts',
    'modules/domains/(dns-check|sending/spf-permits).ts',
  ],
  // outgoing: the certificates that are trusted.
  tls: ['infra/outgoing/'],
  // http: types of the server below Fastify. listen: a receiver of webhooks on a developer’s machine.
  http: ['infra/http/', 'cli/listen.ts'],
  https: ['cli/listen.ts'],
  http2: [],
  // certificate: the certificate of the SMTP listeners. dev-authority: the certificates of a developer’s machine. system: the hosts file. embedded-postgres: its programs and its cluster. migrate: the migrations.
  // bootstrap: the credentials in DATA_DIR. development-secrets: the generated keys there. given-settings: secrets in files. doctor: the space in it. layout: the style and the script of the
  // pages. guides: the guides of docs. files: the built console. carillon: finds Node 24. call-api: the keys in DATA_DIR. backup, restore, data-dir: backups. import-from: export files.
  fs: [
    'infra/incoming/certificate.ts',
    'infra/outgoing/(dev-authority|dns/system).ts',
    'infra/postgres/(embedded-postgres[a-z-]*|migrate|backup|restore).ts',
    'infra/runtime/(development-secrets|given-settings).ts',
    'infra/runtime/disk.ts',
    'bootstrap.ts',
    'cli/(call-api|carillon|doctor|data-dir).m?[jt]s',
    'cli/import-from/(read-export|template).ts',
    'console-site/files.ts',
    'docs-site/(guides|layout).ts',
  ],
  // embedded-postgres: the server and its programs. carillon: starts itself again under Node 24.
  child_process: ['infra/postgres/embedded-postgres[a-z-]*.ts', 'cli/carillon.mjs'],
}

const places = Object.entries(NODE_PLACES).map(([name, allowed]) => ({
  name: `node-${name}`,
  comment: `node:${name} is used in ${allowed.join(', ') || 'no file'} only.`,
  severity: 'error',
  from: { path: '^server/src/', pathNot: [TESTS, ...allowed.map((path) => `^server/src/${path}`)] },
  to: { path: `^(node:)?${name}(/|$)` },
}))

const arrows = Object.entries(ARROWS).map(([module, allowed]) => ({
  name: `arrows-of-${module}`,
  comment: `The module ${module} may use ${allowed.join(', ') || 'no other module'}.`,
  severity: 'error',
  from: { path: `^server/src/modules/${module}/`, pathNot: TESTS },
  to: { path: '^server/src/modules/', pathNot: `^server/src/modules/(${[module, ...allowed].join('|')})/` },
}))

module.exports = {
  forbidden: [
    ...arrows,
    ...places,
    {
      name: 'module-without-arrows',
      comment: 'A new module gets its line in the table of arrows.',
      severity: 'error',
      from: { path: '^server/src/modules/', pathNot: `^server/src/modules/(${Object.keys(ARROWS).join('|')})/` },
      to: {},
    },
    {
      name: 'one-journey-engine',
      comment:
        'Live journeys, simulations and backtests decide by the engine: it knows neither the database nor any of them, and only it and the graph know the kinds of step.',
      severity: 'error',
      from: { path: '^server/src/modules/journeys/engine/', pathNot: TESTS },
      to: {
        path: '^server/src/modules/journeys/(live|simulation|backtests|versions|insight|by-hand|sweeps|calls)/|[.]?queries[.]ts$|^server/src/infra/',
      },
    },
    {
      name: 'front-door-in',
      comment: 'Another module is entered by its index.ts.',
      severity: 'error',
      from: { path: '^server/src/modules/([^/]+)/', pathNot: TESTS },
      to: { path: '^server/src/modules/', pathNot: [FRONT_DOOR, '^server/src/modules/$1/'] },
    },
    {
      name: 'front-door-in-from-outside',
      comment:
        'A module is entered by its index.ts, by the composition too. Benchmarks may measure its parts, house tests measure them and read their texts, and what tests know of journeys is what the engine decides with.',
      severity: 'error',
      from: {
        path: '^(server/src|server/test|scripts)/',
        pathNot: [
          '^server/src/modules/',
          '^server/test/house/(linear|claims|lookups|new-tables|translations)[.]test[.]ts$',
          '^server/test/journey',
        ],
      },
      to: { path: '^server/src/modules/', pathNot: FRONT_DOOR },
    },
    {
      name: 'front-door-out',
      comment: 'A module never leaves by its own front door: import the file that holds it.',
      severity: 'error',
      from: { path: '^server/src/modules/([^/]+)/', pathNot: TESTS },
      to: { path: '^server/src/modules/$1/index[.]ts$' },
    },
    {
      name: 'composition-is-the-top',
      comment: 'Modules, infra and lib do not know who puts them together.',
      severity: 'error',
      from: { path: '^server/src/(modules|infra|lib)/', pathNot: TESTS },
      to: { path: '^server/src/(?!modules/|infra/|lib/)' },
    },
    {
      name: 'infra-knows-no-module',
      comment: 'infra serves every module alike.',
      severity: 'error',
      from: { path: '^server/src/infra/', pathNot: TESTS },
      to: { path: '^server/src/modules/' },
    },
    {
      name: 'lib-stands-alone',
      comment: 'lib knows values only.',
      severity: 'error',
      from: { path: '^server/src/lib/' },
      to: { path: '^server/src/(?!lib/)' },
    },
    {
      name: 'lib-is-pure',
      comment: 'lib does no IO: of Node it may have what computes.',
      severity: 'error',
      from: { path: '^server/src/lib/', pathNot: TESTS },
      to: { dependencyTypes: ['core'], pathNot: PURE_NODE },
    },
    {
      name: 'time-comes-from-the-clock',
      comment: 'Modules and the composition wait and tell the time by ctx.clock.',
      severity: 'error',
      from: { path: '^server/src/(?!infra/|lib/)', pathNot: TESTS },
      to: { path: '^(node:)?timers(/promises)?$' },
    },
    {
      name: 'driver-in-infra',
      comment: 'Only infra talks to the database driver, the HTTP server and the HTTP client.',
      severity: 'error',
      from: { path: '^server/src/(?!infra/)', pathNot: TESTS },
      to: { path: 'node_modules/(pg|pg-copy-streams|pg-protocol|@nats-io|fastify|undici|smtp-server|pino|prom-client)/' },
    },
    {
      name: 'tests-stay-outside',
      comment: 'The product does not know its tests.',
      severity: 'error',
      from: { path: '^server/src/', pathNot: TESTS },
      to: { path: `^(server/test|bench|scripts)/|${TESTS}` },
    },
    {
      name: 'console-by-the-client',
      comment: 'The console talks to the server through the client of sdk.',
      severity: 'error',
      from: { path: '^(console|sdk)/src/' },
      to: { path: '^(server|scripts|bench)/' },
    },
    {
      name: 'sdk-stands-alone',
      comment: 'The client has no dependencies.',
      severity: 'error',
      from: { path: '^sdk/src/' },
      to: { pathNot: '^sdk/src/' },
    },
    {
      name: 'screens-apart',
      comment: 'No screen imports another. What two of them need is in parts.',
      severity: 'error',
      from: { path: '^console/src/screens/([^/]+)/' },
      to: { path: '^console/src/screens/', pathNot: '^console/src/screens/$1/' },
    },
    {
      name: 'screens-know-their-parent-route',
      comment: 'A screen knows of the frame only the route that it stands in.',
      severity: 'error',
      from: { path: '^console/src/screens/' },
      to: { path: '^console/src/(shell/(?!routes[.]tsx$)|router[.]ts$|app[.]tsx$)' },
    },
    {
      name: 'parts-know-no-screen',
      comment: 'Parts and the session know neither the frame nor a screen.',
      severity: 'error',
      from: { path: '^console/src/(parts|session|texts|style)/' },
      to: { path: '^console/src/(screens|shell)/|^console/src/(router|app)[.]' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
