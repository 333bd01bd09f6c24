import { expect, test } from 'vitest'
import { siteOf } from './site-of.ts'

test.each([
  ['https://shop.example.com/reset?email=kim@example.com#top', 'https://shop.example.com'],
  [' HTTP://shop.example.com:8080', 'HTTP://shop.example.com:8080'],
  ['https://kim:secret@shop.example.com/', 'https://shop.example.com'],
  ['//shop.example.com?user=kim', '//shop.example.com'],
  ['https://{{ data.host }}/orders/{{ data.id }}', 'https://{{ data.host }}'],
  ['https:\\\\shop.example.com\\kim', ''],
  ['https://shop.example.com\\kim', 'https://shop.example.com'],
  [' {{ data.url }} ', '{{ data.url }}'],
  ['{{ data.url }}/kim', ''],
  ['kim.example.com', ''],
])('of %s is kept: %s', (link, site) => expect(siteOf(link)).toBe(site))
