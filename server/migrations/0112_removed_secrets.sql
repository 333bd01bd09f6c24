-- Sealed secrets of headers that a journey no longer has, for a day and for who removed them, so that removing a step can be undone.
alter table journeys add column removed_secrets jsonb not null default '[]';
