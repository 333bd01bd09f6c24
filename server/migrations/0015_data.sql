-- Whether the user of a change was already counted as restored, when later changes of the import were undone.
alter table import_changes add column is_counted boolean not null default false;

-- Finds the next change of a user, and the changes of an erased user.
drop index import_changes_by_user;
create index import_changes_by_user on import_changes (project_id, user_id, import_id, position, no);

-- The first rows of dry runs, from which those of erased users are removed.
create index imports_with_first_rows on imports (project_id, id) where first_rows is not null;
