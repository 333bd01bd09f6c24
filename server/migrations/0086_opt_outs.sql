-- An opt-out leaves a type that the user had, by their state or by the default of the type. Saving the preference centre also enters state 0
-- for unticked types that they did not have: those entries are no opt-outs, and must not hide one.
create or replace function count_unsubscribe() returns trigger language plpgsql as $$
begin
  if coalesce(new.previous_state,
              (select s.default_state from subscriptions s where s.project_id = new.project_id and s.id = new.subscription_id)) = 0 then
    return null;
  end if;
  insert into message_counts (project_id, campaign_id, journey_id, variant, state, reason, day, channel, messages, opens, clicks, unsubscribes)
  select m.project_id, m.campaign_id, coalesce(m.journey_id, 0), m.variant, m.state, m.reason, (m.created_at at time zone 'UTC')::date, m.channel, 0, 0, 0, 1
  from messages m
  where m.project_id = new.project_id and m.id = (new.proof ->> 'message_id')::bigint
    and not exists (
      select from consent_entries e
      join subscriptions s on s.project_id = e.project_id and s.id = e.subscription_id
      where e.project_id = new.project_id and e.user_id = new.user_id and e.id < new.id and e.state = 0
        and e.proof ->> 'message_id' = new.proof ->> 'message_id' and not e.proof ? 'same_address_as'
        and coalesce(e.previous_state, s.default_state) <> 0
    );
  return null;
end
$$;
