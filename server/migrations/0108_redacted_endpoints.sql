-- The endpoint of a webhook message had the values that its request redacts. Which part of it had them is not known any more. Only triggers send
-- what requests ask for, so that nothing is read where none sends webhook messages.
update messages m
set recipient = '[redacted]'
from campaigns c, message_requests r
where c.type = 'trigger' and c.channel = 'webhook'
  and m.project_id = c.project_id and m.campaign_id = c.id and m.is_requested and m.recipient is not null
  and r.project_id = m.project_id and r.message_id = m.id and cardinality(r.redact) > 0;
