-- How long a message lives if its request said so. It cannot be told from the message, which waits for its `send_at` first.
alter table message_requests add column expires_after_minutes integer;
