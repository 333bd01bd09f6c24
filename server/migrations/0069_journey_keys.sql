-- Entry keys are forgotten when no event had them for long. Those that were used before this release count from its start.
alter table journey_keys add column seen_on date not null default current_date;
create index journey_keys_by_age on journey_keys (project_id, seen_on);
