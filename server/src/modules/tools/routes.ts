import { route } from '../../infra/http/route.ts'
import { outsideOf, scoringOf } from './outside.ts'
import {
  CommerceForm,
  CommerceReply,
  ContactForm,
  ContactReply,
  FoodForm,
  FoodReply,
  LoremForm,
  LoremReply,
  PhoneForm,
  PhoneReply,
  SentimentForm,
  SentimentReply,
  SpfForm,
  SpfReply,
  TcpForm,
  TcpReply,
} from './schema.ts'
import {
  analyseSentiment,
  checkSpf,
  generateCommerce,
  generateContacts,
  generateFood,
  generateLorem,
  validateMobile,
  verifyTcp,
} from './service.ts'

// Any secret key and any organisation key (D-GEN-1).
const access = { secret: 'support', organisation: 'member' } as const

export const toolRoutes = [
  route({
    method: 'POST',
    path: '/api/ext/generic/data/generate/lorem',
    summary: 'Generate words, sentences, paragraphs and slugs.',
    description: '`method` chooses the kind of text. `profile` gives one of each.',
    access,
    form: LoremForm,
    reply: LoremReply,
    run: (ctx, { body }) => generateLorem(body, outsideOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/data/generate/commerce',
    summary: 'Generate products, prices and ISBNs.',
    description: '`method` chooses the kind of data. `profile` gives one of each.',
    access,
    form: CommerceForm,
    reply: CommerceReply,
    run: (ctx, { body }) => generateCommerce(body, outsideOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/data/generate/food',
    summary: 'Generate dishes and ingredients.',
    description: '`method` chooses the kind of data. `profile` gives one of each.',
    access,
    form: FoodForm,
    reply: FoodReply,
    run: (ctx, { body }) => generateFood(body, outsideOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/data/generate/contact',
    summary: 'Generate contacts with name, email address, phone number and company.',
    description: 'The same `seed` gives the same contacts.',
    access,
    form: ContactForm,
    reply: ContactReply,
    run: (ctx, { body }) => generateContacts(body, outsideOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/text/sentiment-score',
    summary: 'Score the sentiment of an English text.',
    description:
      'The score is the sum of the values of the words that express a sentiment. `comparative` is the score divided by the number of words.',
    access,
    form: SentimentForm,
    reply: SentimentReply,
    run: (ctx, { body }) => analyseSentiment(body, scoringOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/sms/phone-mobile-syntax-validator',
    summary: 'Check whether a phone number is a mobile number.',
    description:
      'The number is compared with the ranges of mobile numbers; nothing is sent. Without a leading plus, only North American numbers are recognised.',
    access,
    form: PhoneForm,
    reply: PhoneReply,
    run: (_, { body }) => validateMobile(body),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/email/spf-lookup',
    summary: 'Look up the SPF record of a domain and list its problems.',
    description: 'If there is no record, or the DNS does not respond, the reply is 200 with an empty `record` and a warning.',
    access,
    form: SpfForm,
    reply: SpfReply,
    bucket: 'egress',
    run: (ctx, { body }) => checkSpf(body, outsideOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/dns/tcp-verifier',
    summary: 'Test whether a TCP connection can be opened.',
    description: 'If the connection fails, the reply is 200 with the reason in `connection`. No data is sent over the connection.',
    access,
    form: TcpForm,
    reply: TcpReply,
    bucket: 'egress',
    run: async (ctx, { body }) => {
      const reply = await verifyTcp(body, outsideOf(ctx))
      // Every attempt is logged with the key, which is a field of the request’s log (D-TCP-3).
      ctx.log.info({ domain_ip: body.domain_ip, port: body.port, connection: reply.data.connection }, 'tcp connection attempted')
      return reply
    },
  }),
]
