-- When the wait of a user is over, if the timer is earlier because the rule of an exit criterion may hold by then.
alter table journey_entrances add column until timestamptz(3);

-- The users of a project who are parked are few, and are asked for often.
create index journey_entrances_parked on journey_entrances (project_id, journey_id, user_id) where parked is not null;

-- The instant up to which users of journeys were moved. A clock behind it was set back: who acted in that future acts again.
create table journey_clocks (
  project_id bigint primary key,
  checked_to timestamptz(3) not null
);

-- As text, and visits as arrays, because a million users wait: step, visit, arrival and departure in milliseconds, path, reason, values seen.
alter table journey_entrances alter column trail drop default, alter column trail type json using trail::json, alter column trail set default '[]';
alter table journey_past alter column trail type json using trail::json;
