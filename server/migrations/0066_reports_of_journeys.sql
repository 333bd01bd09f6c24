-- Counts of messages know the journey that sent them (0: none) and who unsubscribed by them.
alter table message_counts add column journey_id bigint not null default 0;
alter table message_counts add column unsubscribes bigint not null default 0;
alter table message_days
  add column journey_id bigint not null default 0,
  add column unsubscribes bigint not null default 0,
  drop constraint message_days_pkey,
  add constraint message_days_pkey primary key (project_id, day, campaign_id, journey_id, state);

-- The first opt-out by a message, in its own subscription type or in everything; not that of other users with the same address.
create function count_unsubscribe() returns trigger language plpgsql as $$
begin
  insert into message_counts (project_id, campaign_id, journey_id, variant, state, reason, day, channel, messages, opens, clicks, unsubscribes)
  select m.project_id, m.campaign_id, coalesce(m.journey_id, 0), m.variant, m.state, m.reason, (m.created_at at time zone 'UTC')::date, m.channel, 0, 0, 0, 1
  from messages m
  where m.project_id = new.project_id and m.id = (new.proof ->> 'message_id')::bigint
    and not exists (
      select from consent_entries e
      where e.project_id = new.project_id and e.user_id = new.user_id and e.id < new.id and e.state = 0
        and e.proof ->> 'message_id' = new.proof ->> 'message_id' and not e.proof ? 'same_address_as'
    );
  return null;
end
$$;

create or replace function count_messages() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into message_counts (project_id, campaign_id, journey_id, variant, state, reason, day, channel, messages, opens, clicks)
    select project_id, campaign_id, coalesce(journey_id, 0), variant, state, reason, (created_at at time zone 'UTC')::date, channel, count(*), count(opened_at), count(clicked_at)
    from after group by project_id, campaign_id, coalesce(journey_id, 0), variant, state, reason, (created_at at time zone 'UTC')::date, channel;
  else
    insert into message_counts (project_id, campaign_id, journey_id, variant, state, reason, day, channel, messages, opens, clicks)
    select project_id, campaign_id, coalesce(journey_id, 0), variant, state, reason, (created_at at time zone 'UTC')::date, channel, sum(sign), coalesce(sum(sign) filter (where opened_at is not null), 0), coalesce(sum(sign) filter (where clicked_at is not null), 0)
    from (select *, 1 as sign from after union all select *, -1 from before) changed
    group by project_id, campaign_id, coalesce(journey_id, 0), variant, state, reason, (created_at at time zone 'UTC')::date, channel
    having sum(sign) <> 0
        or sum(sign) filter (where opened_at is not null) <> 0
        or sum(sign) filter (where clicked_at is not null) <> 0;
  end if;
  return null;
end
$$;

create or replace function add_message_days() returns trigger language plpgsql as $$
begin
  insert into message_days as d (project_id, day, campaign_id, journey_id, channel, state, messages, opens, clicks, unsubscribes)
  select project_id, day, campaign_id, journey_id, min(channel), state, sum(messages), sum(opens), sum(clicks), sum(unsubscribes)
  from before
  where day is not null
  group by project_id, day, campaign_id, journey_id, state
  order by project_id, day, campaign_id, journey_id, state
  on conflict (project_id, day, campaign_id, journey_id, state) do update
    set messages = d.messages + excluded.messages, opens = d.opens + excluded.opens, clicks = d.clicks + excluded.clicks,
        unsubscribes = d.unsubscribes + excluded.unsubscribes;
  return null;
end
$$;

-- What was counted without a journey moves to it: the sums of campaigns stay.
lock table messages, consent_entries in share row exclusive mode;
insert into message_counts (project_id, campaign_id, journey_id, variant, state, reason, day, channel, messages, opens, clicks)
select project_id, campaign_id, case when sign = 1 then journey_id else 0 end, variant, state, reason, day, channel, sign * messages, sign * opens, sign * clicks
from (
  select project_id, campaign_id, journey_id, variant, state, reason, (created_at at time zone 'UTC')::date as day, channel,
         count(*) as messages, count(opened_at) as opens, count(clicked_at) as clicks
  from messages
  where journey_id is not null
  group by project_id, campaign_id, journey_id, variant, state, reason, (created_at at time zone 'UTC')::date, channel
) counted
cross join (values (1), (-1)) as signs (sign);

insert into message_counts (project_id, campaign_id, journey_id, variant, state, reason, day, channel, messages, opens, clicks, unsubscribes)
select m.project_id, m.campaign_id, coalesce(m.journey_id, 0), m.variant, m.state, m.reason, (m.created_at at time zone 'UTC')::date, m.channel, 0, 0, 0, count(*)
from (
  select distinct project_id, user_id, (proof ->> 'message_id')::bigint as message_id
  from consent_entries
  where state = 0 and proof ? 'message_id' and not proof ? 'same_address_as'
) left_by
join messages m on m.project_id = left_by.project_id and m.id = left_by.message_id
group by m.project_id, m.campaign_id, coalesce(m.journey_id, 0), m.variant, m.state, m.reason, (m.created_at at time zone 'UTC')::date, m.channel;

create trigger unsubscribe_counted after insert on consent_entries
  for each row when (new.state = 0 and new.proof ? 'message_id' and not new.proof ? 'same_address_as')
  execute function count_unsubscribe();
