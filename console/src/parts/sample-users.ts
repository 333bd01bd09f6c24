/** Five users who are hard to write to: without a name, with the longest one, of another language, right to left, and with hardly any data. */
export const SAMPLE_USERS = [
  {
    external_id: 'sample-1',
    email: 'sample.one@example.com',
    locale: 'en-AU',
    timezone: 'Australia/Sydney',
    data: { plan: 'free', orders: 0 },
  },
  {
    external_id: 'sample-2',
    email: 'wilhelmina.featherstonehaugh@example.com',
    phone: '+61491570156',
    locale: 'en-AU',
    timezone: 'Australia/Perth',
    data: { first_name: 'Wilhelmina Alexandrina', last_name: 'Featherstonehaugh-Cholmondeley', plan: 'pro', orders: 12 },
  },
  {
    external_id: 'sample-3',
    email: 'wei.chen@example.com',
    locale: 'zh-Hans',
    timezone: 'Asia/Shanghai',
    data: { first_name: '伟', last_name: '陈', plan: 'pro', orders: 3 },
  },
  {
    external_id: 'sample-4',
    email: 'nour.alhasan@example.com',
    locale: 'ar',
    timezone: 'Asia/Dubai',
    data: { first_name: 'نور', last_name: 'الحسن', plan: 'free', orders: 1 },
  },
  { external_id: 'sample-5', phone: '+61491570157', data: {} },
]
