-- Messages that were sent again by hand and withdrawn, which a new `send_at` sends. The minus keeps other statements from this index, and the one that
-- uses it from others.
create index messages_to_renew on messages (project_id, (-campaign_id))
  where state = 'aborted' and reason = 'rescheduled' and resent_from is not null and not is_erased;
