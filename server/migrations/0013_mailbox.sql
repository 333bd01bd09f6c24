-- An unsubscribe concerns every user with the address that it came from, in any case.
create index users_by_email on users (project_id, lower(email collate "C")) where email is not null;

-- Whether a suppression stops transactional messages too. All but an unsubscribe from everything on a page do.
alter table suppressions add column stops_transactional boolean not null default true;

-- When uses of a rate were granted: pairs of a time in milliseconds and a number, those of the last interval only. They replace `tokens` and
-- `refilled_at`, which the previous release reads.
alter table rate_buckets add column grants jsonb not null default '[]';
