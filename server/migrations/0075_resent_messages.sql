-- The message that this one sends again.
alter table messages add column resent_from bigint;
