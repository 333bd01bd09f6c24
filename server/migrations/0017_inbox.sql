-- What people find in the app. Every change of a message takes the next number of its person, under the person's row in
-- inbox_counters, so that who has seen everything up to a number misses nothing by asking for what is beyond it.
create table inbox_messages (
  -- That of the message it is a copy of.
  id bigint primary key,
  project_id bigint not null references projects (id),
  user_id bigint not null,
  campaign_id bigint not null,
  content jsonb not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  seen_at timestamptz(3),
  read_at timestamptz(3),
  clicked_at timestamptz(3),
  archived_at timestamptz(3),
  seq bigint not null
);

create index inbox_messages_by_user on inbox_messages (project_id, user_id, created_at, id);
create index inbox_messages_by_seq on inbox_messages (project_id, user_id, seq);
create index inbox_messages_unread on inbox_messages (project_id, user_id, expires_at) where read_at is null and archived_at is null;
create index inbox_messages_lapsing on inbox_messages (expires_at) where expires_at is not null;

-- The last number of each person, and how many messages wait to be read; those past their expiry count until they are removed.
create table inbox_counters (
  user_id bigint primary key,
  project_id bigint not null references projects (id),
  seq bigint not null,
  unread integer not null
) with (fillfactor = 85);
