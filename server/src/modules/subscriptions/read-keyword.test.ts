import { describe, expect, test } from 'vitest'
import { readKeyword, repliesIn } from './read-keyword.ts'

/** A region of each language that has keywords. */
const REGIONS = [
  'AE',
  'IR',
  'IL',
  'DE',
  'CH',
  'AT',
  'ES',
  'MX',
  'US',
  'FR',
  'CA',
  'IT',
  'JP',
  'NL',
  'BE',
  'PL',
  'BR',
  'PT',
  'CN',
  'TW',
  'SG',
]

/** What people answer in English, and English words that look like words of these languages. */
const EVERYDAY =
  'fine ok okay good great nice cool sure no nope yeah yep maybe later never done thanks hi hello hey bye on off in out me us at die war rot gift hat tag not man arm kind also so was will bad bald fast boot hell see made note brief chef star sold pain main coin chat sale son tire pan sin red once come dice pie ten soy mayor me he if of or per pure sort spot slim trap bank room big dank die drop glad pal map lot tan ale most pole brat wiatr as to do by my i u k y n who what when where why how call text busy working driving home now soon today tomorrow tonight love lol sorry please wait more less all some any go back up down left right book order buy send pay price how much where is it'.split(
    ' ',
  )

describe('a text message', () => {
  test.each([
    ['STOP', 'en-AU', 'stop'],
    [' stop. ', 'en-AU', 'stop'],
    ['“Stop!!!”', 'en-AU', 'stop'],
    ['Stop 🛑', 'en-AU', 'stop'],
    ['StopAll', 'en-AU', 'stop'],
    ['stop\nall', 'en-AU', 'stop'],
    ['ＳＴＯＰ', 'ja', 'stop'],
    ['opt-out', 'en', 'stop'],
    ['STOP', 'de-DE', 'stop'],
    ['Unsubscribe', 'sv', 'stop'],
    ['ARRÊT', 'fr-FR', 'stop'],
    ['arret', 'fr-CA', 'stop'],
    ['Arre\u0302t', 'fr', 'stop'],
    ['arrêt', 'en', null],
    ['stop please', 'en', 'stop'],
    ['Please stop!', 'en-AU', 'stop'],
    ['STOP, thank you.', 'en', 'stop'],
    ['pls unsubscribe me thanks', 'en', 'stop'],
    ['Stop texting me', 'en', 'stop'],
    ['bitte abmelden', 'de', 'stop'],
    ['STOP svp', 'fr', 'stop'],
    ['Arrêtez, s’il vous plaît', 'fr-FR', 'stop'],
    ["arretez s'il vous plait", 'fr-FR', 'stop'],
    ['停止してください', 'ja', 'stop'],
    ['help please', 'en', 'help'],
    ['Yes please', 'en', null],
    ['please', 'en', null],
    ['please please please please please stop', 'en', null],
    ['stop please by tomorrow', 'en', null],
    ['إيقاف', 'ar-EG', 'stop'],
    ['ايقاف من فضلك', 'ar', 'stop'],
    ['نعم', 'ar', 'start'],
    ['لطفاً لغو', 'fa', 'stop'],
    ['لغو\u200cاشتراک', 'fa', null],
    ['\u200fلغو اشتراک\u200f', 'fa', 'stop'],
    ['הסר', 'he', 'stop'],
    ['הסירו אותי בבקשה', 'iw-IL', 'stop'],
    ['退订', 'zh-CN', 'stop'],
    ['请退订，谢谢', 'zh', 'stop'],
    ['取消訂閱', 'zh-TW', 'stop'],
    ['T', 'zh-CN', 'stop'],
    ['t', 'en', null],
    ['Rezygnuję', 'pl', 'stop'],
    ['prosze usun', 'pl', 'stop'],
    ['kündigen', 'de', 'stop'],
    ['Kundigen', 'de', 'stop'],
    ['停止。', 'ja-JP', 'stop'],
    ['ストップ', 'ja', 'stop'],
    ['ｽﾄｯﾌﾟ', 'ja', 'stop'],
    ['Afmelden', 'nl', 'stop'],
    ['descadastrar', 'pt-BR', 'stop'],
    ['Disiscrivimi', 'it', 'stop'],
    ['Baja', 'es-MX', 'stop'],
    ['START', 'es', 'start'],
    ['Yes', 'en', 'start'],
    ['sí', 'es', 'start'],
    ['¡Sí!', 'es', 'start'],
    ['はい', 'ja', 'start'],
    ['HELP?', 'en', 'help'],
    ['Hilfe', 'de', 'help'],
    ['aide', 'fr', 'help'],
    ['Please stop by tomorrow', 'en', null],
    ['stopping', 'en', null],
    ['st op', 'en', null],
    ['', 'en', null],
    ['...', 'en', null],
    ['constructor', 'en', null],
  ])('%j in %s: %s', (text, locale, expected) => {
    expect(readKeyword(text, locale)?.what ?? null).toBe(expected)
  })

  test.each([
    ['ARRÊT', 'en-CA', ['CA'], 'stop'],
    ['arret svp', 'en', ['AU', 'CA'], 'stop'],
    ['baja', 'en-US', ['US'], 'stop'],
    ['abmelden', 'fr-CH', ['CH'], 'stop'],
    ['הסר', 'en', ['IL'], 'stop'],
    ['退订', 'en-SG', ['SG'], 'stop'],
    ['Hilfe', 'en', ['AT'], 'help'],
    ['ARRÊT', 'en-AU', ['AU'], null],
    ['abmelden', 'en-CA', ['CA'], null],
  ])('%j in %s with the regions %j: %s', (text, locale, regions, expected) => {
    expect(readKeyword(text, locale, regions)?.what ?? null).toBe(expected)
  })

  test.each([
    ['fine', 'en', ['CH'], null],
    ['Fine, thanks', 'de-CH', ['CH', 'IT'], null],
    ['fine', 'it-CH', ['CH'], 'stop'],
    ['ferma', 'de-CH', ['CH'], 'stop'],
  ])('%j in %s with the regions %j: %s, because it is an everyday word in English', (text, locale, regions, expected) => {
    expect(readKeyword(text, locale, regions)?.what ?? null).toBe(expected)
  })

  test('no everyday English word is a keyword of another language that is spoken in a region', () => {
    expect(EVERYDAY.filter((word) => readKeyword(word, 'en', REGIONS) !== null)).toEqual([])
  })

  test('the keyword is returned in its normalised form', () => {
    expect(readKeyword(' Désabonner! ', 'fr')).toEqual({ what: 'stop', word: 'desabonner' })
    expect(readKeyword('Stop, please!', 'en')).toEqual({ what: 'stop', word: 'stop' })
  })
})

test('replies are in the language of the project, else in English', () => {
  expect(repliesIn('de-CH').stopped).toContain('abgemeldet')
  expect(repliesIn('sv').stopped).toContain('unsubscribed')
  expect(repliesIn('zh-HK').stopped).toContain('簡訊')
})
