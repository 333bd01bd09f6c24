/** The utilities. The replies of the generators are those to `seed=demo`. */
const generated = { generated: 1, locale: 'en', seed: 'demo' }
const performance = { generationTime: 1, itemsGenerated: 1, locale: 'en' }

export const utilityExamples = {
  GenerateLoremInput: { count: '1', seed: 'demo', method: 'sentence' },
  GenerateLoremReply: {
    status: 'success',
    data: {
      lorem: [
        {
          method: 'sentence',
          value: 'Aspicio reiciendis cohibeo.',
          sentence: 'Aspicio reiciendis cohibeo.',
          wordCount: 3,
          wordCountMin: 3,
          wordCountMax: 10,
        },
      ],
      ...generated,
      method: 'sentence',
    },
    performance,
  },
  GenerateCommerceInput: { count: '1', seed: 'demo', method: 'price' },
  GenerateCommerceReply: {
    status: 'success',
    data: {
      commerce: [{ method: 'price', value: '30.06', price: '30.06', priceMin: 1, priceMax: 1000, priceDecimalPlaces: 2, priceSymbol: '' }],
      ...generated,
      method: 'price',
    },
    performance,
  },
  GenerateFoodInput: { count: '1', seed: 'demo', method: 'dish' },
  GenerateFoodReply: {
    status: 'success',
    data: {
      foods: [{ method: 'dish', value: 'Fresh Okra And Brown Rice Vinegar Bowl', dish: 'Fresh Okra And Brown Rice Vinegar Bowl' }],
      ...generated,
      method: 'dish',
    },
    performance,
  },
  GenerateContactInput: { count: '1', seed: 'demo' },
  GenerateContactReply: {
    status: 'success',
    data: {
      contacts: [
        {
          id: '5231c7df-8197-4f45-9cdc-5edf176e5abc',
          name: 'Luz Pagac',
          email: 'Luz_Pagac@example.org',
          phone: '+19819399655',
          company: 'Bauch Group',
          website: 'https://bitter-quinoa.info',
        },
      ],
      ...generated,
      method: 'profile',
    },
  },
  SentimentScoreInput: { text: 'Great service, terrible parking' },
  SentimentScoreReply: {
    status: 'success',
    data: {
      score: 0,
      comparative: 0,
      calculation: [{ terrible: -3 }, { great: 3 }],
      tokens: ['great', 'service', 'terrible', 'parking'],
      words: ['terrible', 'great'],
      positive: ['great'],
      negative: ['terrible'],
    },
  },
  PhoneMobileSyntaxValidatorInput: { phone: '+61 412 345 678' },
  PhoneMobileSyntaxValidatorReply: {
    status: 'success',
    data: { isValid: true, phoneNumber: '+61412345678', countryIso2: 'AU', countryIso3: 'AUS', countryCode: '+61' },
  },
  SpfLookupInput: { domain: 'example.com' },
  SpfLookupReply: {
    status: 'success',
    data: {
      record: 'v=spf1 include:_spf.example.net -all',
      warnings: [],
      details: { version: 'spf1', mechanisms: ['include:_spf.example.net'], policy: '-all' },
    },
  },
  TcpVerifierInput: { domain_ip: 'mail.example.com', port: '25' },
  TcpVerifierReply: { status: 'success', data: { connection: 'success' } },
}
