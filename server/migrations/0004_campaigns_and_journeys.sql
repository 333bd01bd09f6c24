create table lists (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects,
  name text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3)
);
create index lists_by_project on lists (project_id, id);

create table campaigns (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects,
  type text not null check (type in ('blast', 'trigger')),
  name text not null,
  channel text not null,
  subscription_id bigint not null references subscriptions,
  provider_id bigint,
  state text not null check (state in ('draft', 'scheduled', 'loading', 'running', 'finished', 'aborting', 'aborted')),
  event_name text,
  list_ids bigint[] not null default '{}',
  exclusion_list_ids bigint[] not null default '{}',
  tags text[] not null default '{}',
  send_in_user_timezone boolean not null default false,
  -- As it was given, to the millisecond: an instant, or a wall-clock time without offset.
  send_at text,
  custom_domain_id bigint,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3)
);
create index campaigns_by_project on campaigns (project_id, created_at, id) where archived_at is null;
create index campaigns_by_event on campaigns (project_id, event_name) where type = 'trigger' and state = 'running' and archived_at is null;

create table campaign_templates (
  id bigint generated always as identity primary key,
  project_id bigint not null,
  campaign_id bigint not null references campaigns on delete cascade,
  locale text not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (campaign_id, locale)
);

create table journeys (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects,
  name text not null,
  status text not null check (status in ('draft', 'live', 'off')),
  description text,
  tags text[] not null default '{}',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3)
);
create index journeys_by_project on journeys (project_id, id) where archived_at is null;

create table journey_steps (
  id bigint generated always as identity primary key,
  project_id bigint not null,
  journey_id bigint not null references journeys on delete cascade,
  external_id text not null,
  type text not null,
  name text not null,
  x double precision not null,
  y double precision not null,
  data jsonb not null,
  children jsonb not null,
  unique (journey_id, external_id)
);
