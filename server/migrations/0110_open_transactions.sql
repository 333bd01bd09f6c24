-- The transactions that were storing events when a replay began. Releases before that do not wait for them.
alter table webhook_replays add column open_transactions text[] not null default '{}';
