/** Server-sent events in a text that arrives in parts. */

export type LiveEvent = { event: string; data: unknown }

/**
 * The complete events of a text, and the rest, which is the beginning of another event. Comments, which only show that the connection
 * works, are left out.
 */
export function eventsIn(text: string): { events: LiveEvent[]; rest: string } {
  const blocks = text.split('\n\n')
  const rest = blocks.pop() ?? ''
  return { events: blocks.flatMap(eventIn), rest }
}

function eventIn(block: string): LiveEvent[] {
  const field = (name: string) =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  const [event, data] = [field('event'), field('data')]
  return event === undefined || data === undefined ? [] : [{ event, data: JSON.parse(data) as unknown }]
}
