-- The id of a message in the sandbox is from when the message was created, and may be lower than those of messages that were caught earlier.
create index sandbox_messages_by_age on sandbox_messages (project_id, created_at);
