import Sentiment from 'sentiment'

const analyser = new Sentiment()

/** AFINN-165 sentiment of an English text, as the `sentiment` package words it (D-SENT-1). Lists run from last to first. */
export const scoreSentiment = (text: string) => analyser.analyze(text)
