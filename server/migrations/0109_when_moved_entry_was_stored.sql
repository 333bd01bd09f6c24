-- When the entry at a position was stored in the log, by the clock of the log. Known for the stored position only if it is of that one: earlier
-- releases store how far they have moved without it.
alter table log_positions add column stored_at timestamptz(3), add column stored_at_position bigint;
