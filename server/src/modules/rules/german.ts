/** The labels and descriptions of rules in German, by their English texts. Sentences are made by `words/de.ts`. */
import type { Translations } from '../../lib/translated.ts'

const DURATION = 'Minutes, hours, days, weeks or years of 365.25 days, such as `90m`, `12h`, `30d`, `2w` or `18y`. At most 200 years.'
const DAUER = 'Minuten, Stunden, Tage, Wochen oder Jahre zu 365,25 Tagen, etwa `90m`, `12h`, `30d`, `2w` oder `18y`. Höchstens 200 Jahre.'

/** A rule in a schema, which steps of journeys have too. */
export const RULE =
  'Which users match: `all`, `any` or `none` of 1 to 50 rules, `not` of one rule, or a condition. A condition is on an `attribute`, an `event`, a `list`, a `subscription`, a `campaign`, a `journey`, a `device` or a `bucket`. Rules nest 8 levels deep and have at most 100 conditions.'
export const REGEL =
  'Auf wen sie zutrifft: `all`, `any` oder `none` von 1 bis 50 Regeln, `not` von einer Regel, oder eine Bedingung. Eine Bedingung betrifft ein Attribut (`attribute`), ein Ereignis (`event`), eine Liste (`list`), ein Abonnement (`subscription`), eine Kampagne (`campaign`), eine Journey (`journey`), ein Gerät (`device`) oder eine Zufallsgruppe (`bucket`). Regeln sind höchstens 8 Ebenen tief und haben höchstens 100 Bedingungen.'

export const german: Translations = {
  'All of': 'Alle',
  'Any of': 'Mindestens eine',
  'None of': 'Keine',
  Not: 'Nicht',
  'Users who match every rule in the group: “and”.': 'Wer jede Regel der Gruppe erfüllt: „und“.',
  'Users who match at least one rule in the group (“or”).': 'Wer mindestens eine Regel der Gruppe erfüllt: „oder“.',
  'Users who match no rule in the group.': 'Wer keine Regel der Gruppe erfüllt.',
  'Users who do not match the rule in the group.': 'Wer die Regel der Gruppe nicht erfüllt.',
  'The rules in the group.': 'Die Regeln der Gruppe.',
  [RULE]: REGEL,
  [DURATION]: DAUER,

  Attribute: 'Attribut',
  'Users whose attribute passes the comparison. A typed attribute accepts only the operators for its type.':
    'Wessen Attribut den Vergleich erfüllt. Ein Attribut mit einem Typ nimmt nur die Operatoren dieses Typs an.',
  'An attribute of the user, or a path into the user’s data, such as `data.plan`.':
    'Ein Attribut des Nutzers oder ein Pfad in seinen Daten, etwa `data.plan`.',
  'Declares that the values of the attribute are dates. A Unix timestamp is then treated as a date too, in seconds or milliseconds, as a number or as text of 9, 10, 12 or 13 digits.':
    'Erklärt die Werte des Attributs zu Zeitpunkten: auch ein Unix-Zeitstempel gilt als einer, in Sekunden oder Millisekunden, als Zahl oder als Text mit 9, 10, 12 oder 13 Ziffern.',
  'An ISO 8601 time in the years 1 to 9999.': 'Ein Zeitpunkt nach ISO 8601 in den Jahren 1 bis 9999.',
  'Random bucket': 'Zufallsgruppe',
  'A random sample of users. For each seed, every user has a fixed number from 0 to 99. The numbers are evenly distributed.':
    'Eine zufällige Stichprobe von Nutzern. Für jeden Startwert hat jeder Nutzer eine feste Zahl von 0 bis 99. Die Zahlen sind gleich verteilt.',
  'The seed: any text. Another seed gives another sample.':
    'Der Startwert: ein beliebiger Text. Ein anderer ergibt eine andere Stichprobe.',
  Campaign: 'Kampagne',
  'Users with this result recorded for a message of the campaign.':
    'Für wen dieses Ergebnis einer Nachricht der Kampagne festgehalten ist.',
  'The id of the campaign.': 'Die ID der Kampagne.',
  'The result.': 'Das Ergebnis.',
  [`Counts only events in this period up to now. ${DURATION}`]: `Zählt nur Ereignisse in dieser Zeit bis jetzt. ${DAUER}`,
  'Counts only events at or after this ISO 8601 time.': 'Zählt nur Ereignisse ab diesem Zeitpunkt nach ISO 8601.',
  'Counts only events before this ISO 8601 time, which must be later than `since`.':
    'Zählt nur Ereignisse vor diesem Zeitpunkt nach ISO 8601, der nach `since` liegen muss.',
  Device: 'Gerät',
  'Users with at least one device that matches.': 'Wer mindestens ein passendes Gerät hat.',
  'The field of the device.': 'Das Merkmal des Geräts.',
  Event: 'Ereignis',
  'Users for whom an event occurred a given number of times, or first or last occurred at a given time. A condition has at most one of `at_least`, `at_most`, `exactly`, `first`, `last`; without any of them, it matches users with at least one event.':
    'Nutzer, bei denen ein Ereignis so oft, oder zu dieser Zeit zum ersten oder letzten Mal eintrat. Eine Bedingung hat höchstens eines von `at_least`, `at_most`, `exactly`, `first`, `last`; ohne eines davon genügt ein einziges Ereignis.',
  'The name of the event.': 'Der Name des Ereignisses.',
  'The minimum number of events.': 'Die kleinste Anzahl von Ereignissen.',
  'The highest number of events.': 'Die größte Anzahl von Ereignissen.',
  'The number of events.': 'Die Anzahl von Ereignissen.',
  'Compares the time of the first event, for users with at least one. Cannot be combined with `within`.':
    'Vergleicht den Zeitpunkt des ersten Ereignisses, wenn es eines gibt. Nicht zusammen mit `within`.',
  'Compares the time of the last event, for users with at least one. Cannot be combined with `within`.':
    'Vergleicht den Zeitpunkt des letzten Ereignisses, wenn es eines gibt. Nicht zusammen mit `within`.',
  'A path into the event’s data, such as `data.total`.': 'Ein Pfad in den Daten des Ereignisses, etwa `data.total`.',
  'Tests of the event’s data. All of them must pass. Dates can be compared only with `before` and `after`. For `list_entered` and `list_left`, one of the tests must name the list: `data.list_id` with `is`.':
    'Prüfungen der Daten des Ereignisses, die alle zutreffen müssen. Zeitpunkte lassen sich nur mit `before` und `after` vergleichen. Bei `list_entered` und `list_left` muss eine davon die Liste nennen: `data.list_id` mit `is`.',
  'Users who are inside a journey, who never entered it, who completed it or exited from it, or who were held out of it. `step` restricts `inside` to a step. With `within`, users match if, within that period, they entered or, with `step`, reached the step (`inside`), their last entrance ended this way (`completed`, `exited`), or they were held out (`held_out`). With `never_entered`, users match if they did not enter within that period.':
    'Wer in einer Journey ist, nie eintrat, sie abschloss, aus ihr austrat, oder in ihre Kontrollgruppe kam. `step` schränkt `inside` auf einen Schritt ein. Mit `within` trifft es auf Nutzer zu, wenn sie in dieser Zeit eintraten oder, mit `step`, den Schritt erreichten (`inside`), wenn ihr letzter Eintritt so endete (`completed`, `exited`), oder wenn sie in die Kontrollgruppe kamen (`held_out`). Mit `never_entered` trifft es zu, wenn sie in dieser Zeit nicht eintraten.',
  'The id of the journey.': 'Die ID der Journey.',
  'Where the user is in the journey.': 'Wo der Nutzer in der Journey ist.',
  'The key of a step. Allowed only with `inside`.': 'Der Schlüssel eines Schritts. Nur mit `inside` erlaubt.',
  [`Restricts the condition to what happened in this period up to now. ${DURATION}`]: `Beschränkt die Bedingung auf das, was in dieser Zeit bis jetzt geschah. ${DAUER}`,
  List: 'Liste',
  'Users in another list. Lists must not refer to each other in a cycle.':
    'Wer in einer anderen Liste ist. Listen dürfen nicht im Kreis aufeinander verweisen.',
  'The id of the list.': 'Die ID der Liste.',
  Subscription: 'Abonnement',
  'Users with this subscription state. Without a stored state, the default of the subscription type applies.':
    'Wer in diesem Zustand des Abonnements ist. Ohne gespeicherten Zustand gilt die Vorgabe des Abonnementtyps.',
  'The id of the subscription type.': 'Die ID des Abonnementtyps.',
  'The state. Users who are `confirmed` are also `subscribed`.':
    'Der Zustand. Wer bestätigt hat (`confirmed`), hat auch abonniert (`subscribed`).',

  'is after': 'liegt nach',
  'is at least': 'ist mindestens',
  'is at most': 'ist höchstens',
  'is before': 'liegt vor',
  'is between': 'liegt zwischen',
  contains: 'enthält',
  'contains any of': 'enthält eines von',
  'does not contain': 'enthält nicht',
  'ends with': 'endet mit',
  'is greater than': 'ist größer als',
  is: 'ist',
  'is not': 'ist nicht',
  'is set': 'ist gesetzt',
  'is less than': 'ist kleiner als',
  'is more than … ago': 'liegt mehr als … zurück',
  'is not one of': 'ist keines von',
  'is one of': 'ist eines von',
  'starts with': 'beginnt mit',
  'is within the last': 'liegt in den letzten',
  'is within the next': 'liegt in den nächsten',
}
