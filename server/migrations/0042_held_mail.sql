-- Held email is given up at the end of its lifetime, which is its due time while it is held.
create index mail_recipients_held on mail_recipients (due_at) where state = 'queued' and is_held;
