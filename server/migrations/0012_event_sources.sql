-- What wrote an event: 'system' for system events, null for those of requests. Callers cannot set it.
alter table events add column source text check (source in ('system'));

-- Earlier system events are known by their names and members only.
update events set source = 'system'
where name in ('user_created', 'user_updated')
   or (name in ('list_entered', 'list_left') and data ? 'list_id')
   or (name ~ '^(email|text|push|webhook|in_app)_[a-z_]+$' and data ?& array['campaign_id', 'message_id'])
   or (name in ('subscribed', 'unsubscribed', 'subscription_confirmation_requested') and data ? 'subscription_id');
