-- The instant that a text names, by the rules of the interface for times: ISO 8601, a date or a date and time to the minute
-- or finer, in UTC unless it has an offset, from 1970 to 2100, cut to milliseconds. Null for any other text, never an error.
-- It is asked about many values at once: most of what is no time is seen at a glance, and parts are cut out by their place.
create function instant_of(value text) returns timestamptz
language plpgsql immutable parallel safe strict as $$
declare
  -- With an offset, the first and the last hours may be written in the years around.
  shape constant text := '^(?:19(?:69|[7-9][0-9])|20[0-9]{2}|210[01])-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])'
    '(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?$';
  instant timestamptz;
begin
  if value not like '____-__-__%' or value !~ shape then
    return null;
  end if;
  -- A day that the month does not have falls into the next one.
  if substr(value, 9, 2) > '28'
    and extract(month from (left(value, 8) || '01')::date + (substr(value, 9, 2)::int - 1)) <> substr(value, 6, 2)::int then
    return null;
  end if;
  if length(value) > 20 and substr(right(value, 6), 1, 1) in ('+', '-') then
    instant := (left(left(value, -6), 23)::timestamp - right(value, 6)::interval) at time zone 'UTC';
  else
    instant := left(rtrim(value, 'Z'), 23)::timestamp at time zone 'UTC';
  end if;
  if instant < '1970-01-01T00:00Z'::timestamptz or instant >= '2101-01-01T00:00Z'::timestamptz then
    return null;
  end if;
  return instant;
end
$$;
