-- How many attempts of an endpoint succeeded and failed, by hour. Counted as they are recorded, because 30 days of deliveries are too many to count.
create table webhook_hours (
  project_id bigint not null,
  endpoint_id bigint not null,
  hour timestamp(3) with time zone not null,
  succeeded integer not null,
  failed integer not null,
  primary key (project_id, endpoint_id, hour),
  foreign key (project_id, endpoint_id) references webhook_endpoints (project_id, id) on delete cascade
) with (fillfactor = 85);
alter table webhook_hours alter column project_id set (n_distinct = 10);
