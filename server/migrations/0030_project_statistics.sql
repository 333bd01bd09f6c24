-- Every index leads with the project. Where statistics were made while each project had few rows, PostgreSQL believed that the project alone
-- leads to a row, took any index for as good as the one that fits, and read all rows of a large project for each key. It is told that
-- there are few projects, so that an index with more of the key is always better. Each ANALYZE stores that.
do $$
declare
  t regclass;
begin
  for t in
    select c.oid from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id' and not a.attisdropped
    where c.relkind = 'r' and not c.relispartition and c.relnamespace = current_schema()::regnamespace
  loop
    execute format('alter table %s alter column project_id set (n_distinct = 10)', t);
  end loop;
end $$;
