-- When uses of a rate were granted: pairs of a time in milliseconds and a number, those of the last interval only. They replace `tokens` and
-- `refilled_at`, which the previous release reads.
alter table rate_buckets add column grants jsonb not null default '[]';
