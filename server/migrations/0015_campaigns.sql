-- How a blast is paced, split and followed, and what a trigger asks of an event and its person.
alter table campaigns
  add column rate jsonb,
  add column expires_after_hours smallint not null default 72,
  add column holdout_percent smallint not null default 0,
  add column variants jsonb not null default '[]',
  add column winner jsonb,
  add column event_rule jsonb,
  -- When a blast begins: at `send_at`, or when the first clock in the world shows it.
  add column due_at timestamptz(3),
  add column paused_at timestamptz(3),
  add column started_at timestamptz(3),
  add column finished_at timestamptz(3),
  -- Which variant won, by its place in `variants`, and the numbers that said so.
  add column winner_variant smallint,
  add column winner_numbers jsonb,
  -- What is still to be done to its messages, some thousands at a time.
  add column chore text check (chore in ('hold', 'release', 'take_back'));

update campaigns
set due_at = case when send_in_user_timezone then (send_at || 'Z')::timestamptz - interval '14 hours' else send_at::timestamptz end
where type = 'blast' and send_at is not null;

create index campaigns_due on campaigns (due_at) where state = 'scheduled' and archived_at is null;
create index campaigns_under_way on campaigns (id) where type = 'blast' and state in ('loading', 'running') and archived_at is null;
create index campaigns_with_chores on campaigns (id) where chore is not null;

-- How far the audience of a blast was turned into messages: everybody up to this id. Beside the campaign, so that whoever makes
-- messages and whoever sends them do not wait for each other.
create table campaign_audiences (
  campaign_id bigint primary key references campaigns,
  project_id bigint not null,
  loaded_to bigint not null default 0,
  is_complete boolean not null default false,
  touched_at timestamptz(3) not null
);
create index campaign_audiences_unfinished on campaign_audiences (touched_at, campaign_id) where not is_complete;

-- Rehearsals of a whole audience, in which nothing is sent.
create table campaign_preflights (
  id bigint generated always as identity primary key,
  project_id bigint not null,
  campaign_id bigint not null references campaigns,
  state text not null check (state in ('running', 'finished')),
  people_total bigint not null,
  people_done bigint not null default 0,
  done_to bigint not null default 0,
  counts jsonb not null default '[]',
  problems jsonb not null default '[]',
  created_at timestamptz(3) not null,
  touched_at timestamptz(3) not null,
  finished_at timestamptz(3)
);
create index campaign_preflights_by_campaign on campaign_preflights (project_id, campaign_id, id);
create index campaign_preflights_running on campaign_preflights (touched_at, id) where state = 'running';
