-- How far a log of accepted requests outside of the database was moved to the queue, and the process that moves it until its lease ends.
create table log_positions (
  log text primary key,
  position bigint not null default 0,
  mover text not null,
  leased_until timestamptz(3) not null,
  -- Everything that was accepted before this instant is in the queue.
  complete_to timestamptz(3) not null
);
