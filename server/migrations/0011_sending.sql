-- What a message carries beyond its cause: in which priority it waits, until when it makes sense, who carried it, what came back.
alter table messages
  add column priority smallint not null default 0,
  add column variant smallint,
  add column held boolean not null default false,
  add column is_erased boolean not null default false,
  add column counts_to_caps boolean not null default false,
  add column expires_at timestamptz(3),
  add column consent_id bigint,
  add column recipient text,
  add column provider_id bigint,
  add column provider_message_id text,
  add column opened_at timestamptz(3),
  add column clicked_at timestamptz(3);

drop index messages_due;
create index messages_due on messages (priority, project_id, channel, due_at, id) where state in ('queued', 'deferred') and not held;

drop index messages_by_campaign;
create index messages_by_campaign on messages (project_id, campaign_id, id);

-- Vendors report by the id that they gave a message.
create index messages_by_provider_id on messages (project_id, provider_message_id) where provider_message_id is not null;

-- What a sender is handing over right now. A message whose sender dies is sent again unless it is in here.
create table send_attempts (
  id bigint generated always as identity primary key,
  project_id bigint not null references projects (id),
  lease_token uuid not null,
  message_ids bigint[] not null,
  provider text not null,
  provider_id bigint,
  created_at timestamptz(3) not null
);

create index send_attempts_by_lease on send_attempts (lease_token);

-- How many messages of a campaign are in which state: changes, to be added up. Kept by the database itself, so that no
-- statement can change a state without being counted.
create table message_counts (
  project_id bigint not null,
  campaign_id bigint not null,
  variant smallint,
  state text not null,
  reason text,
  messages bigint not null,
  opens bigint not null,
  clicks bigint not null
);

create index message_counts_by_campaign on message_counts (project_id, campaign_id);

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

create trigger tally_inserted after insert on messages referencing new table as after for each statement execute function count_messages();
create trigger tally_updated after update on messages referencing old table as before new table as after for each statement execute function count_messages();
create trigger tally_deleted after delete on messages referencing old table as before for each statement execute function count_messages();

insert into message_counts (project_id, campaign_id, variant, state, reason, messages, opens, clicks)
select project_id, campaign_id, variant, state, reason, count(*), 0, 0 from messages group by project_id, campaign_id, variant, state, reason;

-- Rates that all processes share: how many tokens a bucket held at a moment.
create table rate_buckets (
  project_id bigint not null references projects (id),
  name text not null,
  tokens double precision not null,
  refilled_at timestamptz(3) not null,
  primary key (project_id, name)
);

-- How often a person may hear from a project, and when not.
create table sending_policies (
  project_id bigint primary key references projects (id),
  caps jsonb not null default '[]',
  quiet_hours jsonb,
  updated_at timestamptz(3) not null
);
