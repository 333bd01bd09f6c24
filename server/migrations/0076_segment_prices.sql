-- What a provider of text messages takes for an SMS segment, for estimates: an amount and its currency.
alter table providers add column segment_price jsonb;
