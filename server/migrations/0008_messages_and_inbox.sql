-- Configured providers. Rows are archived, never deleted: messages refer to them.
create table providers (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  name text not null,
  kind text not null,
  channel text not null,
  -- The members that may be read again; the secrets are one sealed JSON object.
  settings jsonb not null,
  sealed text,
  secret_names text[] not null default '{}',
  is_default boolean not null,
  rate_limit int,
  rate_interval_seconds int,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3),
  primary key (project_id, id),
  check ((rate_limit is null) = (rate_interval_seconds is null))
);
create index providers_by_project on providers (project_id, id) where archived_at is null;
create unique index providers_default on providers (project_id, channel) where is_default and archived_at is null;
-- The address of a provider callback has the id of the provider only.
create index providers_by_id on providers (id);

-- One row for each (project, user, cause), stored before a provider is called.
create table messages (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  user_id bigint not null,
  campaign_id bigint not null,
  channel text not null,
  -- Why the user gets the message, such as `campaign:7:event:1042-3`. A user never gets two messages for one cause.
  cause text not null,
  -- The event that the template may refer to.
  event jsonb,
  state text not null default 'queued'
    check (state in ('queued', 'claimed', 'sent', 'delivered', 'deferred', 'failed', 'bounced', 'complained', 'skipped', 'aborted', 'unknown')),
  -- Why it is in this state: a word that is counted, and a sentence to be read.
  reason text,
  detail text,
  attempts int not null default 0,
  due_at timestamptz(3) not null,
  lease_token uuid,
  lease_until timestamptz(3),
  provider text,
  created_at timestamptz(3) not null,
  settled_at timestamptz(3),
  priority smallint not null default 0,
  variant smallint,
  -- The campaign is paused.
  is_held boolean not null default false,
  is_erased boolean not null default false,
  counts_to_caps boolean not null default false,
  expires_at timestamptz(3),
  consent_id bigint,
  recipient text,
  provider_id bigint,
  provider_message_id text,
  opened_at timestamptz(3),
  clicked_at timestamptz(3),
  primary key (project_id, id),
  unique (project_id, user_id, cause)
) with (fillfactor = 85);
create index messages_due on messages (priority, project_id, channel, due_at, id) where state in ('queued', 'deferred') and not is_held;
create index messages_leased on messages (lease_until) where state = 'claimed';
create index messages_by_campaign on messages (project_id, campaign_id, id);
-- Delivery reports name a message by the id that the provider gave it.
create index messages_by_provider_id on messages (project_id, provider_message_id) where provider_message_id is not null;

-- The messages that a sender is giving to a provider at this moment. When the sender dies, a message that is in here may have left; all
-- others are sent again.
create table send_attempts (
  id bigint not null generated always as identity,
  project_id bigint not null references projects,
  lease_token uuid not null,
  message_ids bigint[] not null,
  provider text not null,
  provider_id bigint,
  created_at timestamptz(3) not null,
  primary key (project_id, id)
);
create index send_attempts_by_lease on send_attempts (project_id, lease_token);

-- The number of messages of a campaign by state: differences, to be summed. Triggers write them, so that no statement can change a state
-- without being counted.
create table message_counts (
  id bigint not null generated always as identity,
  project_id bigint not null,
  campaign_id bigint not null,
  variant smallint,
  state text not null,
  reason text,
  messages bigint not null,
  opens bigint not null,
  clicks bigint not null,
  primary key (project_id, campaign_id, id)
);

create function count_messages() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into message_counts (project_id, campaign_id, variant, state, reason, messages, opens, clicks)
    select project_id, campaign_id, variant, state, reason, count(*), count(opened_at), count(clicked_at)
    from after group by project_id, campaign_id, variant, state, reason;
  elsif tg_op = 'DELETE' then
    insert into message_counts (project_id, campaign_id, variant, state, reason, messages, opens, clicks)
    select project_id, campaign_id, variant, state, reason, -count(*), -count(opened_at), -count(clicked_at)
    from before group by project_id, campaign_id, variant, state, reason;
  else
    insert into message_counts (project_id, campaign_id, variant, state, reason, messages, opens, clicks)
    select project_id, campaign_id, variant, state, reason, sum(sign), coalesce(sum(sign) filter (where opened_at is not null), 0), coalesce(sum(sign) filter (where clicked_at is not null), 0)
    from (select *, 1 as sign from after union all select *, -1 from before) changed
    group by project_id, campaign_id, variant, state, reason
    having sum(sign) <> 0
        or sum(sign) filter (where opened_at is not null) <> 0
        or sum(sign) filter (where clicked_at is not null) <> 0;
  end if;
  return null;
end
$$;

create trigger count_inserted after insert on messages referencing new table as after for each statement execute function count_messages();
create trigger count_updated after update on messages referencing old table as before new table as after for each statement execute function count_messages();
create trigger count_deleted after delete on messages referencing old table as before for each statement execute function count_messages();

-- Frequency caps and quiet hours.
create table sending_policies (
  project_id bigint primary key references projects,
  caps jsonb not null default '[]',
  quiet_hours jsonb,
  updated_at timestamptz(3) not null
);

-- Messages that the sandbox provider stored. The id is that of the message, so that each is stored once.
create table sandbox_messages (
  id bigint not null,
  project_id bigint not null references projects,
  user_id bigint not null,
  campaign_id bigint not null,
  channel text not null,
  recipient text not null,
  summary text not null,
  content jsonb not null,
  created_at timestamptz(3) not null,
  primary key (project_id, id)
);
create index sandbox_messages_by_user on sandbox_messages (project_id, user_id);

-- In-app messages. Every change of a message takes the next number of its user, while the user's row of `inbox_counters` is locked: a
-- client that knows all changes up to a number misses none when it asks for those beyond it.
create table inbox_messages (
  -- The id of the message in `messages`.
  id bigint not null,
  project_id bigint not null references projects,
  user_id bigint not null,
  campaign_id bigint not null,
  content jsonb not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  seen_at timestamptz(3),
  read_at timestamptz(3),
  clicked_at timestamptz(3),
  archived_at timestamptz(3),
  seq bigint not null,
  primary key (project_id, id)
);
create index inbox_messages_by_user on inbox_messages (project_id, user_id, created_at, id);
create index inbox_messages_by_seq on inbox_messages (project_id, user_id, seq);
create index inbox_messages_unread on inbox_messages (project_id, user_id, expires_at) where read_at is null and archived_at is null;
create index inbox_messages_by_expiry on inbox_messages (expires_at) where expires_at is not null;

-- The latest number of each user, and the number of unread messages; expired messages count until they are deleted.
create table inbox_counters (
  user_id bigint not null,
  project_id bigint not null references projects,
  seq bigint not null,
  unread integer not null,
  primary key (project_id, user_id)
) with (fillfactor = 85);
