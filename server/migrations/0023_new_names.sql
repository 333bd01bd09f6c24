-- Publishable keys introduce keys of event data too, so that these are limited.
alter table introduced_names drop constraint introduced_names_kind_check;
alter table introduced_names add constraint introduced_names_kind_check check (kind in ('event', 'attribute', 'event_data'));
