-- Parked items that only an anonymous id names, which the erasure of a user looks for. A hash, because an item is kept as it came, however long it is.
create index parked_items_by_anonymous_id on parked_items (project_id, hashtextextended(item ->> 'anonymous_id', 0))
  where item ->> 'anonymous_id' is not null and item ->> 'user_id' is null;
