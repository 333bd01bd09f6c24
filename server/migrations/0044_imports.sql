-- Where in the queue of accepted requests an import was accepted: its rows do not create users again who were erased after it. An import of an
-- earlier release counts as older than every erasure that is remembered.
alter table imports add column accepted_position bigint not null default 0;
