-- Attempts are stored and deleted with their delivery, and found by it: one index less is written for each.
alter table webhook_attempts drop constraint webhook_attempts_pkey, add primary key (project_id, delivery_id, id);
drop index webhook_attempts_by_delivery;
