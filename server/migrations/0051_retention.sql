-- How far the deletion of old rows has come, for each project and table that is read in the order of its ids.
create table retention_progress (
  project_id bigint not null references projects,
  store text not null,
  looked_to bigint not null default 0,
  removed_to bigint not null default 0,
  removed_before timestamptz(3),
  passed_at timestamptz(3),
  primary key (project_id, store)
);
alter table retention_progress alter column project_id set (n_distinct = 10);

-- The counts of a campaign are of all messages that it ever had: deleting old messages does not change them.
drop trigger count_deleted on messages;
create or replace function count_messages() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into message_counts (project_id, campaign_id, variant, state, reason, messages, opens, clicks)
    select project_id, campaign_id, variant, state, reason, count(*), count(opened_at), count(clicked_at)
    from after group by project_id, campaign_id, variant, state, reason;
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
