/** The text formats of the field rules (D-F-1 to D-F-9). The text is trimmed before; the schema limits the length. */
import { isEmail } from './email.ts'
import { isLocale } from './locales.ts'
import { isTimeZone } from './time-zones.ts'
import { isDate, isTime } from './times.ts'
import { dnsName, isDeeplinkMirrorUrl, isHostNameOrIp, isHttpsUrl, isOrigin, isWebsiteUrl } from './urls.ts'

/** Formats by their name in schemas. `problem` completes the sentence "The value of `x` …". */
export const formats: Record<string, { test: (text: string) => boolean; problem: string }> = {
  email: {
    test: isEmail,
    problem: 'is not a valid email address; write it like `kim@example.com`, an international domain in its `xn--` form',
  },
  timezone: { test: isTimeZone, problem: 'is not a time zone; use an IANA name such as `Australia/Sydney`' },
  locale: { test: isLocale, problem: 'is not a locale; use a language tag such as `en-AU`' },
  phone: {
    test: (text) => /^\+?[0-9 ().\-/]+$/.test(text),
    problem: 'is not a valid phone number; write it in international form, such as `+61412345678`',
  },
  time: { test: isTime, problem: 'is not a time; use ISO 8601, such as `2026-11-20T09:30:00Z`, in the years 1970 to 2100' },
  'date-or-time': {
    test: isDate,
    problem: 'is not a date; use ISO 8601, such as `1999-12-31` or `2026-11-20T09:30:00Z`, in the years 1 to 9999',
  },
  'website-url': {
    test: isWebsiteUrl,
    problem: 'is not the address of a website; write it like `https://example.com/shop`, without query or fragment',
  },
  'deeplink-url': {
    test: isDeeplinkMirrorUrl,
    problem: 'must start with `https://` and contain a domain, such as `https://links.example.com`',
  },
  // C0 and U+007F only: ids from other systems may contain C1 control characters.
  identifier: { test: (text) => !/[\p{Cc}--[\u0080-\u009f]]/v.test(text), problem: 'must not contain control characters' },
  'https-url': { test: isHttpsUrl, problem: 'must be a URL that starts with `https://`' },
  origin: {
    test: isOrigin,
    problem:
      'is not an origin as browsers send it; write it like `https://shop.example.com`, in lower case and without a path, with the port only if it is not 443 for `https` or 80 for `http`',
  },
  'hostname-or-ip': { test: isHostNameOrIp, problem: 'is neither a host name nor an IP address' },
  'spf-domain': { test: (text) => dnsName(text) !== null, problem: 'is not a domain name; write it like `example.com`' },
  'no-control': { test: (text) => !/\p{Cc}/u.test(text), problem: 'must not contain control characters' },
}
