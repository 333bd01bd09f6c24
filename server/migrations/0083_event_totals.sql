-- The number of events of a name over all days and partitions. A job adds what `event_names` has counted since, so that a name's total is at
-- least its number of events in any range of days, and the most frequent names of many are found without reading all.
create table event_name_totals (
  project_id bigint not null,
  name text not null,
  events bigint not null,
  primary key (project_id, name)
) with (fillfactor = 70);
alter table event_name_totals alter column project_id set (n_distinct = 10);
create index event_name_totals_by_events on event_name_totals (project_id, events desc);

-- `totalled` is the part of `events` that is in the total. That both are equal is a column, not a condition of the index on `events`: an
-- update that changes an indexed column writes every index of the table.
alter table event_names
  add column totalled bigint not null default 0,
  add column is_totalled boolean not null generated always as (events = totalled) stored;
create index event_names_to_total on event_names (project_id) where not is_totalled;

-- The number of events of a day over all names, with a row for each partition of a batch as in `event_days`.
create table event_day_totals (
  project_id bigint not null,
  day date not null,
  partition smallint not null,
  events bigint not null,
  primary key (project_id, day, partition)
) with (fillfactor = 70);
alter table event_day_totals alter column project_id set (n_distinct = 10);
insert into event_day_totals (project_id, day, partition, events)
select project_id, day, partition, sum(events)::bigint from event_days group by project_id, day, partition;
