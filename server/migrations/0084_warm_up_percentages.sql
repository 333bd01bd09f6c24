-- Percentages are returned as they were given: `real` rounds them, and cannot hold the smallest ones that JSON can.
alter table warm_ups
  alter column bounce_percent_max type double precision using bounce_percent_max::text::double precision,
  alter column deferral_percent_max type double precision using deferral_percent_max::text::double precision;
