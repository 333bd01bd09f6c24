/** The text formats of the field rules (D-F-1 to D-F-9). They see text that is trimmed already and leave lengths to the schema. */
import { isEmail } from './email.ts'
import { isLocale } from './locales.ts'
import { isTimeZone } from './time-zones.ts'
import { isTime } from './times.ts'
import { dnsName, isDeeplinkMirrorUrl, isHostNameOrIp, isHttpsUrl, isWebsiteUrl } from './urls.ts'

/** A format by the name schemas give it. `says` ends the sentence that begins "The value of `x` …". */
export const formats: Record<string, { test: (text: string) => boolean; says: string }> = {
  email: {
    test: isEmail,
    says: 'is not a valid email address; write it like `kim@example.com`, an international domain in its `xn--` form',
  },
  timezone: { test: isTimeZone, says: 'is not a time zone; use an IANA name such as `Australia/Sydney`' },
  locale: { test: isLocale, says: 'is not a locale; use a language tag such as `en-AU`' },
  phone: {
    test: (text) => /^\+?[0-9 ().\-/]+$/.test(text),
    says: 'is not a valid phone number; write it in international form, such as `+61412345678`',
  },
  time: { test: isTime, says: 'is not a time; use ISO 8601, such as `2026-11-20T09:30:00Z`, in the years 1970 to 2100' },
  'website-url': {
    test: isWebsiteUrl,
    says: 'is not the address of a web site; write it like `https://example.com/shop`, without query or fragment',
  },
  'deeplink-url': {
    test: isDeeplinkMirrorUrl,
    says: 'must start with `https://` and name a domain, such as `https://links.example.com`',
  },
  // C0 and U+007F only: a C1 control may be part of an identity that another system has given out.
  identifier: { test: (text) => !/[\p{Cc}--[\u0080-\u009f]]/v.test(text), says: 'must not contain control characters' },
  'https-url': { test: isHttpsUrl, says: 'must be a URL that starts with `https://`' },
  'hostname-or-ip': { test: isHostNameOrIp, says: 'is neither a host name nor an IP address' },
  'spf-domain': { test: (text) => dnsName(text) !== null, says: 'is not a domain name; write it like `example.com`' },
  'no-control': { test: (text) => !/\p{Cc}/u.test(text), says: 'must not contain control characters' },
}
