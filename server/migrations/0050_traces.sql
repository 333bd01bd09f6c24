-- The request that a message came from, while traces are exported: its trace goes on to the message and to the webhooks about it.
create table traced_messages (
  project_id bigint not null,
  message_id bigint not null,
  request_id text not null,
  created_at timestamptz(3) not null,
  primary key (project_id, message_id)
);
create index traced_messages_by_age on traced_messages (created_at);
alter table traced_messages alter column project_id set (n_distinct = 10);
