-- An archived list keeps what it is restored from: the members of a static list, and the rule of a dynamic one.
alter table list_versions drop constraint list_versions_status_check;
alter table list_versions add constraint list_versions_status_check check (status in ('filling', 'building', 'live', 'archived', 'retired'));

-- Archived objects can be listed.
create index lists_archived on lists (project_id, id) where archived_at is not null;
create index campaigns_archived on campaigns (project_id, created_at, id) where archived_at is not null;
create index journeys_archived on journeys (project_id, id) where archived_at is not null;
