-- Clicks of users on links are deleted when they are old. The link keeps their sums, so that its totals are of all clicks that there ever were.
alter table links
  add column former_clicks bigint not null default 0,
  add column former_users bigint not null default 0,
  add column former_bot_clicks bigint not null default 0;

-- The day (UTC) of the last click. Clicks before this release count from its start.
alter table link_clicks add column clicked_on date not null default current_date;
create index link_clicks_by_age on link_clicks (project_id, clicked_on);

create index usage_counters_by_age on usage_counters (project_id, period);
