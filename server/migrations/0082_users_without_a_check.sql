-- The check read and locked the row of the project once for each new user. That row is never deleted, nor its keys, without which nobody
-- writes users.
alter table users drop constraint users_project_id_fkey;
