-- A keyed hash of the address that a confirmation request is about, as its link is. Null for requests of earlier releases, and for users without an
-- address on the channel.
alter table confirmations add column address_hash text;
