import Sentiment from 'sentiment'

const analyser = new Sentiment()

/** The AFINN-165 sentiment of an English text, in the format of the `sentiment` package (D-SENT-1). Lists are from last to first. */
export const scoreSentiment = (text: string) => analyser.analyze(text)
