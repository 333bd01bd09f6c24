import { route } from '../../infra/http/route.ts'
import { outsideOf } from './outside.ts'
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
    access,
    form: LoremForm,
    reply: LoremReply,
    run: (ctx, { body }) => generateLorem(body, outsideOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/data/generate/commerce',
    summary: 'Generate products, prices and ISBNs.',
    access,
    form: CommerceForm,
    reply: CommerceReply,
    run: (ctx, { body }) => generateCommerce(body, outsideOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/data/generate/food',
    summary: 'Generate dishes and ingredients.',
    access,
    form: FoodForm,
    reply: FoodReply,
    run: (ctx, { body }) => generateFood(body, outsideOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/data/generate/contact',
    summary: 'Generate people with an email address, a phone number and a company.',
    access,
    form: ContactForm,
    reply: ContactReply,
    run: (ctx, { body }) => generateContacts(body, outsideOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/text/sentiment-score',
    summary: 'Score the sentiment of an English text.',
    access,
    form: SentimentForm,
    reply: SentimentReply,
    run: (_, { body }) => analyseSentiment(body),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/sms/phone-mobile-syntax-validator',
    summary: 'Tell whether a phone number is a mobile number, and of which country.',
    access,
    form: PhoneForm,
    reply: PhoneReply,
    run: (_, { body }) => validateMobile(body),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/email/spf-lookup',
    summary: 'Look up the SPF record of a domain and say what is wrong with it.',
    description: 'No record, or no answer from the DNS, is a result: the status is 200, `record` is empty and a warning says why.',
    access,
    form: SpfForm,
    reply: SpfReply,
    bucket: 'egress',
    run: (ctx, { body }) => checkSpf(body, outsideOf(ctx)),
  }),
  route({
    method: 'POST',
    path: '/api/ext/generic/dns/tcp-verifier',
    summary: 'Try to open a TCP connection.',
    description: 'A connection that fails is a result: the status is 200 and `connection` says how. Nothing is sent over it.',
    access,
    form: TcpForm,
    reply: TcpReply,
    bucket: 'egress',
    run: async (ctx, { body }) => {
      const reply = await verifyTcp(body, outsideOf(ctx))
      // Every attempt is on record with the key, which the log of the request carries (D-TCP-3).
      ctx.log.info({ domain_ip: body.domain_ip, port: body.port, connection: reply.data.connection }, 'tcp connection attempted')
      return reply
    },
  }),
]
