-- What became of the messages of each day, by campaign, for reports. They stay when messages are deleted.
create table message_days (
  project_id bigint not null,
  day date not null,
  campaign_id bigint not null,
  channel text not null,
  state text not null,
  messages bigint not null,
  opens bigint not null,
  clicks bigint not null,
  primary key (project_id, day, campaign_id, state)
);
alter table message_days alter column project_id set (n_distinct = 10);

-- Changes carry the day on which their messages were created (UTC). Rows of added up counts have none.
alter table message_counts add column day date;
alter table message_counts add column channel text;

lock table messages in share row exclusive mode;
insert into message_days (project_id, day, campaign_id, channel, state, messages, opens, clicks)
select project_id, (created_at at time zone 'UTC')::date, campaign_id, min(channel), state, count(*), count(opened_at), count(clicked_at)
from messages
group by project_id, (created_at at time zone 'UTC')::date, campaign_id, state;

create or replace function count_messages() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into message_counts (project_id, campaign_id, variant, state, reason, day, channel, messages, opens, clicks)
    select project_id, campaign_id, variant, state, reason, (created_at at time zone 'UTC')::date, channel, count(*), count(opened_at), count(clicked_at)
    from after group by project_id, campaign_id, variant, state, reason, (created_at at time zone 'UTC')::date, channel;
  else
    insert into message_counts (project_id, campaign_id, variant, state, reason, day, channel, messages, opens, clicks)
    select project_id, campaign_id, variant, state, reason, (created_at at time zone 'UTC')::date, channel, sum(sign), coalesce(sum(sign) filter (where opened_at is not null), 0), coalesce(sum(sign) filter (where clicked_at is not null), 0)
    from (select *, 1 as sign from after union all select *, -1 from before) changed
    group by project_id, campaign_id, variant, state, reason, (created_at at time zone 'UTC')::date, channel
    having sum(sign) <> 0
        or sum(sign) filter (where opened_at is not null) <> 0
        or sum(sign) filter (where clicked_at is not null) <> 0;
  end if;
  return null;
end
$$;

-- Changes that are added up for their campaign are added to their day. In order, so that two processes do not wait for each other.
create function add_message_days() returns trigger language plpgsql as $$
begin
  insert into message_days as d (project_id, day, campaign_id, channel, state, messages, opens, clicks)
  select project_id, day, campaign_id, min(channel), state, sum(messages), sum(opens), sum(clicks)
  from before
  where day is not null
  group by project_id, day, campaign_id, state
  order by project_id, day, campaign_id, state
  on conflict (project_id, day, campaign_id, state) do update
    set messages = d.messages + excluded.messages, opens = d.opens + excluded.opens, clicks = d.clicks + excluded.clicks;
  return null;
end
$$;
create trigger added_up after delete on message_counts referencing old table as before for each statement execute function add_message_days();
