-- Campaigns with messages that wait for a rate, and when to check whether it has room again: within seconds, so that a changed rate applies
-- soon.
create table rate_queues (
  project_id bigint not null references projects,
  campaign_id bigint not null,
  priority smallint not null,
  channel text not null,
  next_at timestamptz(3) not null,
  primary key (project_id, campaign_id, priority)
);
create index rate_queues_due on rate_queues (priority, next_at);

create index messages_rate_limited on messages (project_id, (-campaign_id), priority, due_at, id)
  where state = 'deferred' and reason = 'rate_limited' and not is_held;
