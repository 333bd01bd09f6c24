/**
 * Every setting of the server. Settings are read once, from the environment and the files of secrets that it names, validated together, and
 * frozen. No other code reads the environment. `docs/reference/configuration.md` is printed from this table.
 */

import {
  addresses,
  addressRanges,
  bytes,
  count,
  credential,
  databaseUrl,
  daysKept,
  emailAddress,
  flag,
  groupRoles,
  hashMemory,
  headers,
  leaseSeconds,
  level,
  list,
  messageDaysKept,
  monthsKept,
  nameServers,
  natsUrl,
  numbers,
  optionalPort,
  pollSeconds,
  port,
  proxies,
  type Setting,
  siteLimits,
  smtpUrl,
  text,
  url,
  wholeCount,
  words,
} from './setting-types.ts'

/** The settings, in the order of the reference page. */
export const settings = {
  NODE_ENV: words(
    'development',
    '`production` requires secrets and forbids outgoing connections to loopback addresses. Any other value selects the development profile.',
  ),
  PORT: port(3000, 'Port of the API. 0 chooses a free one.'),
  HOST: words('127.0.0.1', 'Address to listen on. `0.0.0.0` accepts connections from the network.'),
  DATABASE_URL: databaseUrl(
    undefined,
    'PostgreSQL 16 or newer, as postgres://user:password@host/database. If several hosts are given (`host1,host2:5433`), the host that accepts writes is used. Without it, an embedded PostgreSQL stores its data in DATA_DIR.',
    true,
  ),
  DATABASE_DIRECT_URL: databaseUrl(
    undefined,
    'The same database over a direct connection, for migrations and notifications. Set it when DATABASE_URL points to a pooler such as PgBouncer in transaction mode. The server then changes no session settings through the pooler.',
    true,
  ),
  DATABASE_READ_URL: databaseUrl(
    undefined,
    'A replica of the database. List endpoints read from it if it has every write that was committed before the request, and from DATABASE_URL otherwise. Several hosts need `?target_session_attrs=any`.',
    true,
  ),
  DATABASE_PREPARE: flag(
    true,
    'Whether statements are prepared by name. Set `false` for a pooler that does not keep prepared statements: PgBouncer before 1.21, or with `max_prepared_statements = 0`.',
  ),
  JOB_POLL_S: pollSeconds(
    20,
    'Longest time in seconds before background jobs look for work. New work wakes them at once; this is the safety net for lost notifications.',
  ),
  LOG_URL: natsUrl(
    undefined,
    'NATS 2.9 or newer with JetStream, as nats://user:password@host1:4222,host2:4222 or tls://…. Accepted requests wait there before they are stored in the database, so requests are accepted even while the database is unavailable. Without this setting, accepted requests are stored directly in the database.',
    true,
  ),
  LOG_STREAM: words(
    'carillon',
    'Name of the stream, and the first part of its subjects. All servers that share a database must use the same name, and no other server may use it.',
  ),
  LOG_REPLICAS: wholeCount(1, 'Number of copies of the stream in the cluster: 1, 3 or 5.'),
  LOG_BYTES_MAX: bytes(1_073_741_824, 'Maximum total size of the accepted requests in the stream. Further requests get 503.'),
  LOG_KEYS_KEPT_S: wholeCount(
    900,
    'While the database is unavailable, a key is accepted for this many seconds after its last use, even if it has since been archived. Only with LOG_URL.',
  ),
  DATA_DIR: words('.carillon', 'Directory for the embedded PostgreSQL, the development secrets and credentials.json.'),
  LOG_LEVEL: level('info', 'The lowest level that is logged.'),
  LOG_SUCCESS_EVERY: wholeCount(
    1,
    'How many successful requests (2xx) are logged: one in this many. 1 logs all of them, 0 logs none. All other requests are logged.',
  ),
  BASE_URL: url(undefined, 'Public URL of the API, used in links and tokens. Default: http://HOST:PORT.'),
  BOOTSTRAP_ORG_KEY: credential('ok_')(undefined, 'Organisation key that is added at every start, unless it exists.', true),
  BOOTSTRAP_SECRET_KEY: credential('sk_')(undefined, 'Secret project key that is added at every start, unless it exists.', true),
  BOOTSTRAP_PUBLIC_KEY: credential('pk_')(undefined, 'Publishable project key that is added at every start, unless it exists.', true),
  SECRETS_KEY: list(
    [],
    'Keys that encrypt stored secrets (AES-256-GCM), newest first. Each is `id:base64`, with 32 bytes in Base64. Required in production.',
    true,
  ),
  SESSION_JWT_KEYS: list(
    [],
    'Keys that sign user tokens (HS256), newest first. Each is `kid:secret`, where the secret has 32 or more characters. Required in production.',
    true,
  ),
  REQUIRE_API_VERSION: flag(false, 'Refuse requests without a Service-Version header.'),
  JSON_BODY_LIMIT: bytes(
    1_048_576,
    'Largest JSON body, after decompression. Bodies that can have files (`POST /messages`, `POST /messages/batch` and attachments of templates) may have 15 MiB even if this is less.',
  ),
  FORM_BODY_LIMIT: bytes(262_144, 'Largest form body, after decompression.'),
  IMPORT_BYTES_MAX: bytes(2_147_483_648, 'Largest import file, after decompression.'),
  HEAD_TIMEOUT_S: count(30, 'Seconds that a client has to send the head of a request.'),
  BODY_TIMEOUT_S: count(
    30,
    'Seconds that a client has to send a JSON body, a form or the body of a page. Imports are limited only by CONNECTION_SILENCE_S.',
  ),
  CONNECTION_SILENCE_S: count(
    120,
    'Seconds after which a connection is closed if no byte is sent in either direction, for example in the middle of an import. 0 disables the limit.',
  ),
  CONNECTIONS_MAX: wholeCount(
    10_000,
    'Maximum number of open connections per process. Further connections get 503 and are closed, except for a few that request /livez, /readyz, /healthz or /metrics. 0 means unlimited.',
  ),
  CONNECTIONS_PER_ADDRESS_MAX: wholeCount(
    1000,
    'Maximum number of open connections per client address (IPv6: per /64 network). With TRUST_PROXY, this limits the concurrent requests of each address instead, because all connections then come from the proxy. 0 means unlimited.',
  ),
  EVENT_LOOP_LAG_MAX_MS: wholeCount(
    500,
    'Milliseconds that the event loop may lag. Beyond that, requests that can wait get 503; events, user updates, tracking, unsubscribe pages and callbacks are still served. 0 disables the limit.',
  ),
  LIST_ALL_MAX: count(10_000, 'Maximum number of rows for `limit=-1`.'),
  RATE_READ: count(1000, 'Reads per second per key. 0 disables the limit.'),
  RATE_WRITE: count(1000, 'Writes per second per key. 0 disables the limit.'),
  RATE_ALL_PER_MIN: count(30, 'Requests with `limit=-1` per minute per key. 0 disables the limit.'),
  RATE_EXT: count(50, 'Utility calls per second per key. 0 disables the limit.'),
  RATE_EGRESS_PER_MIN: count(
    60,
    'SPF look-ups, TCP checks, test sends of campaigns, released sandbox emails, tests of providers and checks of domains per minute per key. 0 disables the limit.',
  ),
  RATE_USER: count(10, 'Requests per second with a user token, per user. 0 disables the limit.'),
  RATE_PAGE: count(
    1000,
    'Requests per second per client address (IPv6: per /64 network) to public pages, such as preference pages, callbacks and emails viewed in the browser. Tracked links are not limited. 0 disables the limit.',
  ),
  RATE_PUBLISHABLE: count(
    50,
    'Requests per second with a publishable key, per client address (IPv6: per /64 network). 0 disables the limit.',
  ),
  RATE_AUTH_FAIL_PER_MIN: count(600, 'Failed authentications per minute per client address (IPv6: per /64 network). 0 disables the limit.'),
  RATE_SIGN_IN_PER_MIN: count(
    60,
    'Sign-ins and other console requests without a session, per minute per client address (IPv6: per /64 network). 0 disables the limit.',
  ),
  NEW_EVENT_NAMES_DAY: wholeCount(
    200,
    'Event names that publishable keys may introduce per project per day (UTC). 0 means unlimited. Secret keys are not limited.',
  ),
  NEW_EVENT_DATA_KEYS_DAY: wholeCount(
    1000,
    'Event data keys that publishable keys may introduce per project per day (UTC). 0 means unlimited. Secret keys are not limited.',
  ),
  NEW_ATTRIBUTES_DAY: wholeCount(
    200,
    'User attributes that publishable keys may introduce per project per day (UTC). 0 means unlimited. Secret keys are not limited.',
  ),
  RATE_SUBMISSION: count(100, 'Emails per second per key over SMTP. Beyond that, MAIL gets 450. 0 disables the limit.'),
  QUOTA_SUBMISSIONS_DAY: wholeCount(
    0,
    'Recipients of emails submitted over SMTP, per project per day (UTC). Beyond that, an email gets 452. 0 means unlimited.',
  ),
  QUOTA_EXT_CALLS_MONTH: count(0, 'Utility calls per project per calendar month. 0 means unlimited.'),
  PROJECTS_MAX: wholeCount(1000, 'Maximum number of projects per organisation. 0 means unlimited.'),
  IDEMPOTENCY_TTL_H: count(24, 'Hours for which an Idempotency-Key is stored.'),
  IDEMPOTENCY_WAIT_MS: count(5000, 'Milliseconds that a repeated request with the same Idempotency-Key waits for the first one to finish.'),
  CONSOLE_IDLE_H: count(12, 'Hours after which an unused console session ends. A page that is open but not touched does not use it.'),
  CONSOLE_SESSION_H: count(168, 'Hours after which a console session ends even if it is in use.'),
  LOCAL_SIGN_IN: flag(
    true,
    'Whether members can sign in with passwords and passkeys of this server. If false, they can sign in only through OIDC_ISSUER; the link from `carillon console --reset` still works.',
  ),
  OIDC_ISSUER: url(undefined, 'Issuer of an OpenID provider with which members sign in, such as https://login.example.com/realms/staff.'),
  OIDC_CLIENT_ID: text(undefined, 'Client id of this server at the provider. Its redirect URI is BASE_URL/sign-in/callback.'),
  OIDC_CLIENT_SECRET: text(
    undefined,
    'Client secret of this server at the provider. It is sent in the body of requests. Without it, only PKCE protects the sign-in.',
    true,
  ),
  OIDC_SCOPES: words('openid email profile', 'Scopes to request, separated by spaces.'),
  OIDC_ROLE_CLAIM: words('groups', 'Claim with the groups of a member: its name, or a path such as `realm_access.roles`.'),
  OIDC_ROLES: groupRoles(
    {},
    'Roles that members get from their groups, as JSON: `{"staff": {"role": "admin"}, "marketing": {"projects": {"1": "publisher"}}}`. Roles are assigned at every sign-in, and anyone who is in none of these groups is refused. Without this setting, roles are assigned in the console, and only existing members can sign in.',
  ),
  OIDC_EMAIL_DOMAINS: list(
    [],
    'Domains of the email addresses that may sign in with the provider. Default: all domains. In either case, the provider must have verified the address.',
  ),
  OIDC_NAME: words('single sign-on', 'Name of the provider on the sign-in button.'),
  SYSTEM_SMTP_URL: smtpUrl(
    undefined,
    'SMTP relay for emails to members of the console, such as invitations: `smtp://user:password@host:587`, or `smtps:` for encryption from the start. If the URL contains a password, the connection must be encrypted. Without a relay, no emails are sent.',
    true,
  ),
  SYSTEM_MAIL_FROM: emailAddress(undefined, 'Sender of emails to members of the console. Without a sender, no emails are sent.'),
  PASSWORD_HASH_KIB: hashMemory(19_456, 'Memory in KiB used to hash a console password (Argon2id, two passes). 8 or more.'),
  USER_TOKEN_TTL_S: count(900, 'Lifetime of a user token in seconds.'),
  EVENT_TRIGGER_MAX_AGE_H: count(
    72,
    'Age in hours beyond which events are stored, but trigger no campaigns and let no users enter journeys.',
  ),
  EVENT_RETENTION_MONTHS: monthsKept(
    0,
    'Age in months at which events are deleted. Whole calendar months are deleted at a time. 0 keeps them forever.',
  ),
  AUDIT_RETENTION_DAYS: daysKept(400, 'Age in days at which entries of the audit log are deleted. 0 keeps them forever.'),
  MESSAGE_RETENTION_DAYS: messageDaysKept(
    400,
    'Age in days at which messages in a final state are deleted. Counts are kept. 0 keeps messages forever; any other value must be at least 91.',
  ),
  API_LOG_MAX: wholeCount(
    1000,
    'Number of requests per project that the API log keeps, without secrets or personal data. 0 turns the log off.',
  ),
  API_LOG_RETENTION_DAYS: daysKept(7, 'Age in days at which requests in the API log are deleted. 0 keeps the latest, whatever their age.'),
  SANDBOX_RETENTION_DAYS: daysKept(90, 'Age in days at which messages in the sandbox are deleted. 0 keeps them forever.'),
  PARKED_RETENTION_DAYS: daysKept(400, 'Age in days at which accepted items that could not be applied are deleted. 0 keeps them forever.'),
  JOURNEY_HISTORY_DAYS: daysKept(
    90,
    'Number of days after a user leaves a journey until the record of their path through it is deleted. Records are deleted in whole calendar months. Counts are kept. 0 keeps the records forever.',
  ),
  JOURNEY_KEY_RETENTION_DAYS: daysKept(
    400,
    'Days after which a user’s entry key is deleted, counted from the last event or request with that key. The user can then enter the journey with that key again. 0 keeps entry keys forever.',
  ),
  BACKLOG_ITEMS_MAX: count(
    5_000_000,
    'Number of accepted events and users that may wait to be processed. Further requests get 429. 0 means unlimited.',
  ),
  BACKLOG_BYTES_MAX: bytes(
    2_147_483_648,
    'Maximum total size of the accepted requests waiting to be processed. Further requests get 429. 0 means unlimited.',
  ),
  WORKER_THREADS: count(
    0,
    'Threads that render templates, compile MJML and read CSV files. 0 means one fewer than the number of processors, but at least one.',
  ),
  MESSAGE_LEASE_S: leaseSeconds(
    60,
    'Seconds after which another process sends the messages of a process that stopped responding. A running process renews its lease on its messages. 2 or more.',
  ),
  MTA_PORT: port(25, 'Port to connect to on mail hosts. Values other than 25 are for tests.'),
  MTA_SOURCE_ADDRESSES: addresses(
    [],
    'Addresses of this machine to use in turn for connections to mail hosts. Default: the system chooses.',
  ),
  MTA_QUEUE_MAX: wholeCount(
    20_000,
    'Blast emails per project that may wait for their first attempt. Further messages are rendered when fewer are waiting.',
  ),
  WEBHOOK_RETRY_SCHEDULE: numbers([5, 300, 1800, 7200, 18_000, 36_000, 36_000], 'Seconds between the attempts of a webhook delivery.'),
  WEBHOOK_TIMEOUT_MS: count(15_000, 'Milliseconds that a webhook endpoint has to respond.'),
  WEBHOOK_DISABLE_AFTER_FAILURES: count(
    20,
    'Number of consecutive failures after which an endpoint is disabled, if WEBHOOK_DISABLE_AFTER_HOURS have passed too.',
  ),
  WEBHOOK_DISABLE_AFTER_HOURS: count(
    120,
    'Hours that must have passed since the first of the consecutive failures before an endpoint is disabled.',
  ),
  MTA_LIMITS: siteLimits(
    {},
    'Delivery limits for mail sites, as JSON. They replace the built-in limits: `{"google": {"connections": 2}, "*": {"mails_per_second": 20}}`. Each key is the `site` that `GET /mail-sites` shows. `*` applies to all sites without a known provider. The limits are `connections`, `mails_per_connection`, `connections_per_minute` and `mails_per_second`.',
  ),
  MTA_HOSTNAME: text(
    undefined,
    'Public host name of this server for email. The server greets mail hosts with this name, and the records of sending domains refer to it. Default: the host of BASE_URL.',
  ),
  MTA_ADDRESSES: addresses(
    [],
    'Public addresses that email comes from, for SPF records. Addresses that MTA_HOSTNAME resolves to are always allowed.',
  ),
  TLS_REPORTS: flag(
    true,
    'Whether to send daily TLS reports (RFC 8460) to domains that request them. A domain gets reports only if it publishes an MTA-STS policy or TLSA records.',
  ),
  TLS_REPORT_CONTACT: text(undefined, 'Contact that TLS reports name. Default: postmaster at the sending domain of the project.'),
  INBOUND_PORT: optionalPort(
    undefined,
    'Port, usually 25, on which the API listens for email with bounces and complaints. Other email is refused. Without this setting, the API does not accept such email.',
  ),
  SUBMISSION_PORT: optionalPort(
    undefined,
    'Port, usually 587, on which the API listens for email that applications submit, with STARTTLS. Without this setting, no email can be submitted this way.',
  ),
  SUBMISSION_TLS_PORT: optionalPort(
    undefined,
    'Port, usually 465, on which the API listens for email that applications submit, with TLS from the start. Requires a certificate (SMTP_TLS_CERT). Without this setting, no email can be submitted this way.',
  ),
  SUBMISSION_BYTES_MAX: bytes(26_214_400, 'Largest email that may be submitted.'),
  SMTP_HOST: text(undefined, 'Address to listen on for incoming email. Default: HOST.'),
  SMTP_TLS_CERT: text(
    undefined,
    'File with the certificate chain (PEM) for incoming email. Without a certificate, there is no encryption in production. The development profile generates a certificate.',
  ),
  SMTP_TLS_KEY: text(undefined, 'File with the private key (PEM) for SMTP_TLS_CERT.'),
  SMTP_CONNECTIONS_MAX: wholeCount(500, 'Maximum number of open connections on each port for incoming email.'),
  REPORT_ADDRESSES: list(
    [],
    'Further addresses, besides the return paths of emails, at which INBOUND_PORT accepts reports, such as those registered with feedback loops.',
  ),
  EGRESS_ALLOW_CIDRS: addressRanges(
    [],
    'Private address ranges to which outgoing connections are allowed. The development profile adds loopback.',
  ),
  DNS_SERVERS: nameServers([], 'Name servers that look up mail hosts. They must answer for every domain. Default: those of the system.'),
  DNS_VALIDATES: flag(
    false,
    'Whether the name servers validate DNSSEC and are reached over a network that cannot be tampered with, such as loopback. Their AD bit is then trusted, and DANE is used.',
  ),
  OPS_PORT: optionalPort(
    undefined,
    'Port on which a process of any role serves /livez, /readyz, /metrics and /version to operators. Each process needs its own port. Without it, `api` and `all` processes serve them on PORT only, and workers not at all.',
  ),
  OPS_HOST: words('127.0.0.1', 'Address to listen on for OPS_PORT.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    undefined,
    'OpenTelemetry collector, such as http://127.0.0.1:4318, to which traces are exported over OTLP (protobuf over HTTP). Without it, there are no traces.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: headers([], 'Headers to send with exported traces, as `name=value`, such as an API key.', true),
  OTEL_SERVICE_NAME: words('carillon', 'Name of this service in traces.'),
  OTEL_TRACES_SAMPLER_ARG: count(1, 'Share of the traces that are exported, from 0 to 1.'),
  TRUST_PROXY: proxies(
    [],
    'Proxies (addresses, CIDRs, or `loopback`, `linklocal` or `uniquelocal`) whose X-Forwarded-For header is trusted.',
  ),
  METRICS_TOKEN: text(
    undefined,
    'Bearer token for /metrics. Without it, /metrics is open on OPS_PORT; on PORT it is open in development and closed in production.',
    true,
  ),
} satisfies Record<string, Setting<unknown>>
