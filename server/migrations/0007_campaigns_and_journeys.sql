create table campaigns (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  type text not null check (type in ('blast', 'trigger')),
  name text not null,
  channel text not null,
  subscription_id bigint not null,
  provider_id bigint,
  state text not null check (state in ('draft', 'scheduled', 'loading', 'running', 'finished', 'aborting', 'aborted')),
  event_name text,
  list_ids bigint[] not null default '{}',
  exclusion_list_ids bigint[] not null default '{}',
  tags text[] not null default '{}',
  send_in_user_timezone boolean not null default false,
  -- As the caller wrote it, to the millisecond: an instant, or a local time without an offset.
  send_at text,
  custom_domain_id bigint,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3),
  rate jsonb,
  expires_after_hours smallint not null default 72,
  holdout_percent smallint not null default 0,
  variants jsonb not null default '[]',
  winner jsonb,
  event_rule jsonb,
  -- When a blast is launched: at `send_at`, or when that local time comes in the first time zone.
  due_at timestamptz(3),
  paused_at timestamptz(3),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  -- The position of the winner in `variants`, and the numbers that decided.
  winner_variant smallint,
  winner_numbers jsonb,
  -- What remains to be done to its messages, some thousands at a time.
  pending_action text check (pending_action in ('hold', 'release', 'withdraw')),
  primary key (project_id, id),
  foreign key (project_id, subscription_id) references subscriptions
);
create index campaigns_by_project on campaigns (project_id, created_at, id) where archived_at is null;
create index campaigns_by_event on campaigns (project_id, event_name) where type = 'trigger' and state = 'running' and archived_at is null;
create index campaigns_due on campaigns (due_at) where state = 'scheduled' and archived_at is null;
create index campaigns_under_way on campaigns (id) where type = 'blast' and state in ('loading', 'running') and archived_at is null;
create index campaigns_with_pending_action on campaigns (id) where pending_action is not null;

create table campaign_templates (
  id bigint not null generated always as identity,
  project_id bigint not null,
  campaign_id bigint not null,
  locale text not null,
  data jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  variant smallint not null default 0 check (variant between 0 and 25),
  -- Prepared when the template is saved: members that replace those of `data`. Null until the template is first used.
  compiled jsonb,
  primary key (project_id, id),
  unique (project_id, campaign_id, locale, variant),
  foreign key (project_id, campaign_id) references campaigns on delete cascade
);

-- How far the audience of a blast is loaded: messages exist for all users up to this id. Apart from `campaigns`, so that loading and
-- sending do not wait for each other.
create table campaign_audiences (
  campaign_id bigint not null,
  project_id bigint not null,
  loaded_to bigint not null default 0,
  is_complete boolean not null default false,
  touched_at timestamptz(3) not null,
  primary key (project_id, campaign_id),
  foreign key (project_id, campaign_id) references campaigns
);
create index campaign_audiences_unfinished on campaign_audiences (touched_at, campaign_id) where not is_complete;

-- Preflights: dry runs of a campaign over its whole audience.
create table campaign_preflights (
  id bigint not null generated always as identity,
  project_id bigint not null,
  campaign_id bigint not null,
  state text not null check (state in ('running', 'finished')),
  people_total bigint not null,
  people_done bigint not null default 0,
  done_to bigint not null default 0,
  counts jsonb not null default '[]',
  problems jsonb not null default '[]',
  created_at timestamptz(3) not null,
  touched_at timestamptz(3) not null,
  finished_at timestamptz(3),
  primary key (project_id, id),
  foreign key (project_id, campaign_id) references campaigns
);
create index campaign_preflights_by_campaign on campaign_preflights (project_id, campaign_id, id);
create index campaign_preflights_running on campaign_preflights (project_id, touched_at, id) where state = 'running';

create table journeys (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  name text not null,
  status text not null check (status in ('draft', 'live', 'off')),
  description text,
  tags text[] not null default '{}',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3),
  primary key (project_id, id)
);
create index journeys_by_project on journeys (project_id, id) where archived_at is null;

create table journey_steps (
  id bigint not null generated always as identity,
  project_id bigint not null,
  journey_id bigint not null,
  external_id text not null,
  type text not null,
  name text not null,
  x double precision not null,
  y double precision not null,
  data jsonb not null,
  children jsonb not null,
  primary key (project_id, id),
  unique (project_id, journey_id, external_id),
  foreign key (project_id, journey_id) references journeys on delete cascade
);
