/** A reason why the server cannot start that its operator can remove. The message is one sentence or two, and says what to do. */
export class StartError extends Error {
  readonly expected = true
}
