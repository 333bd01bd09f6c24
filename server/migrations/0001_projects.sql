-- Organisations, projects and their keys. A project is a tenant: its id leads every primary, unique and foreign key of the tables
-- that have it. Ids are unique over all projects, so that a row keeps its id when its project moves to another database.
create table organisations (
  id bigint generated always as identity primary key,
  name text not null,
  api_version text not null,
  created_at timestamptz(3) not null
);

create table projects (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organisations,
  name text not null,
  locale text not null,
  timezone text not null,
  description text,
  website_url text,
  text_opt_out_message text,
  text_help_message text,
  link_wrap_email boolean not null default false,
  link_wrap_push boolean not null default false,
  track_opens_email boolean,
  deeplink_mirror_url text not null default '',
  api_version text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index projects_by_organisation on projects (organization_id, id);

-- The three kinds of key. An organisation key has no project.
create table api_keys (
  id bigint generated always as identity primary key,
  organization_id bigint not null references organisations,
  project_id bigint references projects,
  scope text not null check (scope in ('public', 'secret', 'organisation')),
  role text not null,
  name text not null,
  description text,
  hash text not null unique,
  prefix text not null,
  last4 text not null,
  is_system_key boolean not null default false,
  -- Origins that may use a publishable key; none: any may.
  allowed_origins text[] not null default '{}',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3),
  check ((scope = 'organisation') = (project_id is null))
);
create index api_keys_by_project on api_keys (project_id, id) where archived_at is null;

-- The keys are not referenced: that would lock the row of the key for every request. They are archived, never deleted.
create table idempotency_records (
  key_id bigint not null,
  idempotency_key text not null,
  fingerprint text not null,
  -- Null while the request is running.
  status int,
  body text,
  is_sealed boolean not null,
  location text,
  request_id text not null,
  expires_at timestamptz(3) not null,
  primary key (key_id, idempotency_key)
);
create index idempotency_records_by_expiry on idempotency_records (expires_at);

-- Quotas: the number of uses in a period (D-RATE-3).
create table usage_counters (
  project_id bigint not null references projects,
  name text not null,
  period date not null,
  used bigint not null,
  primary key (project_id, name, period)
);

-- The names that publishable keys were the first to use, so that each counts once against the limit of a day.
create table introduced_names (
  project_id bigint not null references projects,
  kind text not null check (kind in ('event', 'attribute')),
  name text not null,
  primary key (project_id, kind, name)
);

-- Rates that all processes share: the number of tokens in a bucket at a moment.
create table rate_buckets (
  project_id bigint not null references projects,
  name text not null,
  tokens double precision not null,
  refilled_at timestamptz(3) not null,
  primary key (project_id, name)
);
