-- A batch is shared by several processes, so its plan also says which partition applies the work of each user that is due.
alter table queue_batches
  add column due_users bigint[] not null default '{}',
  -- One byte for each of them, in order: the partition.
  add column due_partitions bytea not null default '';
