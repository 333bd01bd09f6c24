import { describe, expect, test } from 'vitest'
import { scoreSentiment } from './sentiment.ts'

describe('sentiment', () => {
  test('explains a score word by word', () => {
    expect(scoreSentiment('Cats are stupid.')).toEqual({
      score: -2,
      comparative: -0.6666666666666666,
      calculation: [{ stupid: -2 }],
      tokens: ['cats', 'are', 'stupid'],
      words: ['stupid'],
      positive: [],
      negative: ['stupid'],
    })
  })

  test.each([
    ['good', 3],
    ['not good', -3],
    ['The table is brown', 0],
    ['😀', 1],
    ['constructor __proto__ hasOwnProperty', 0],
  ])('of “%s” has the sign of %i', (text, sign) => expect(Math.sign(scoreSentiment(text).score)).toBe(Math.sign(sign)))

  test('lists words from the last to the first', () => {
    const { words, positive, negative } = scoreSentiment('good bad great')
    expect({ words, positive, negative }).toEqual({
      words: ['great', 'bad', 'good'],
      positive: ['great', 'good'],
      negative: ['bad'],
    })
  })

  test('of punctuation only is one empty token and a score of zero', () => {
    expect(scoreSentiment('...')).toMatchObject({ score: 0, comparative: 0, tokens: [''] })
  })
})
