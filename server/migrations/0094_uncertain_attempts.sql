-- When a message was first given to a provider that may have it without having said so, and that takes a message with the same key once: it is repeated
-- there, and only for as long as the provider knows the key. Null for messages of earlier releases.
alter table messages add column uncertain_at timestamptz(3);
