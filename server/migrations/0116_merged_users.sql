-- The users who were merged since an instant, for a blast whose audience is being loaded.
create index users_merged on users (project_id, merged_at) where merged_at is not null;
