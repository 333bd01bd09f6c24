import { describe, expect, test } from 'vitest'
import { readKeyword, repliesIn } from './read-keyword.ts'

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

  test('the keyword is returned in its normalised form', () => {
    expect(readKeyword(' Désabonner! ', 'fr')).toEqual({ what: 'stop', word: 'desabonner' })
  })
})

test('replies are in the language of the project, else in English', () => {
  expect(repliesIn('de-CH').stopped).toContain('abgemeldet')
  expect(repliesIn('sv').stopped).toContain('unsubscribed')
})
