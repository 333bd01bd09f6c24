-- How many users each list had, on each day in UTC.
create table list_days (
  project_id bigint not null,
  list_id bigint not null,
  day date not null,
  users bigint not null,
  primary key (project_id, list_id, day)
);
alter table list_days alter column project_id set (n_distinct = 10);
create index list_days_by_day on list_days (project_id, day);
