/** The settings of journeys and the kinds of step in German, by their English texts. */
import type { Translations } from '../../lib/translated.ts'
import { REGEL, RULE } from '../rules/index.ts'

const DURATION = 'Minutes, hours, days, weeks or years of 365.25 days, such as `90m`, `12h`, `30d`, `2w` or `18y`. At most 200 years.'
const DAUER = 'Minuten, Stunden, Tage, Wochen oder Jahre zu 365,25 Tagen, etwa `90m`, `12h`, `30d`, `2w` oder `18y`. Höchstens 200 Jahre.'

const SETTINGS: Translations = {
  'The percentage of users who are held out: they do not enter, but their goals are counted for comparison.':
    'Der Prozentsatz der Nutzer in der Kontrollgruppe: Sie treten nicht ein, aber ihre Ziele werden zum Vergleich gezählt.',
  'Users in any of these lists do not enter.': 'Wer in einer dieser Listen ist, tritt nicht ein.',
  'The name in the statistics. It is unique among the goals of the journey.':
    'Der Name in der Statistik. Er ist unter den Zielen der Journey eindeutig.',
  'The name of the event that achieves the goal.': 'Das Ereignis, mit dem das Ziel erreicht ist.',
  'Tests of the data of the event, as in the `where` of a rule. All of them must pass.':
    'Prüfungen der Daten des Ereignisses, wie in `where` einer Regel. Alle müssen zutreffen.',
  'The event counts for this many days after the user entered or was held out.':
    'So viele Tage lang nach dem Eintritt, oder nachdem der Nutzer in die Kontrollgruppe kam, zählt das Ereignis.',
  'The goals of the journey.': 'Die Ziele der Journey.',
  'The maximum number of entries per user within 24 hours. Default: 50.':
    'Wie oft ein Nutzer in 24 Stunden höchstens eintritt. Vorgabe: 50.',
  'The settings of the journey. They are published with its steps. A write replaces all settings.':
    'Die Einstellungen der Journey. Sie werden mit ihren Schritten veröffentlicht. Wer sie schreibt, ersetzt alle.',
}

const SENDING: Translations = {
  Send: 'Senden',
  'Sends a message of a trigger campaign to the user.': 'Sendet dem Nutzer eine Nachricht einer ausgelösten Kampagne.',
  'The trigger campaign to send.': 'Die ausgelöste Kampagne, die gesendet wird.',
  'When users continue: at once (`none`), once the message is `sent` (default), or once it is `delivered`.':
    'Worauf gewartet wird, bevor es weitergeht: auf nichts (`none`), bis die Nachricht gesendet ist (`sent`, Vorgabe), oder bis sie zugestellt ist (`delivered`).',
  'Hours to wait for the delivery of a sent message before continuing without it. Default 72.':
    'Wie lange auf die Zustellung einer gesendeten Nachricht gewartet wird, bevor es wie nach dem Senden weitergeht. Vorgabe 72.',
  'send the campaign 7': 'die Kampagne 7 senden',
  'Call a webhook': 'Webhook aufrufen',
  'Calls a URL and waits for the answer, which later steps can read.':
    'Ruft eine URL auf und wartet auf die Antwort, die spätere Schritte lesen können.',
  'Default `POST`.': 'Vorgabe `POST`.',
  'An HTTPS URL. The path and the query may contain Liquid.': 'Eine HTTPS-URL. Pfad und Query dürfen Liquid enthalten.',
  'Headers by name, in addition to `Content-Type: application/json` and `Idempotency-Key`.':
    'Kopfzeilen nach Namen, zusätzlich zu `Content-Type: application/json` und `Idempotency-Key`.',
  'A text, which may contain Liquid, or `{ "secret": "…" }`, which is stored encrypted and is not returned.':
    'Ein Text, der Liquid enthalten darf, oder `{ "secret": "…" }`, das verschlüsselt gespeichert und nicht zurückgegeben wird.',
  'The body, which may contain Liquid.': 'Der Inhalt, der Liquid enthalten darf.',
  'How long to wait for an answer, in seconds. Default 15.': 'Wie viele Sekunden auf eine Antwort gewartet wird. Vorgabe 15.',
  'How many times to retry the call if there is no answer, or if the answer is 408, 409, 429 or 5xx. Default 3.':
    'Wie oft wiederholt wird, wenn keine Antwort kommt oder eine mit 408, 409, 429 oder 5xx. Vorgabe 3.',
  'call https://example.com/score with the user’s external id': 'https://example.com/score mit der externen ID des Nutzers aufrufen',
}

const WAITING: Translations = {
  'Limit the rate': 'Tempo begrenzen',
  'Lets a limited number of users pass in each interval. The others wait until there is room for them.':
    'Lässt in jedem Zeitraum nur so viele durch. Die anderen warten, bis Platz ist.',
  'The number of users who pass in each interval.': 'Wie viele in jedem Zeitraum durchkommen.',
  'The length of the interval.': 'Die Länge des Zeitraums.',
  'Users who would wait longer take the path `over_limit` at once.': 'Wer länger warten müsste, nimmt sofort den Weg `over_limit`.',
  'let 100 users pass each minute': 'jede Minute 100 durchlassen',
  Wait: 'Warten',
  'Waits for a duration, until a time of day, or until a date.': 'Wartet eine Dauer, bis zu einer Uhrzeit oder bis zu einem Datum.',
  'What the user waits for: a `duration` (default), a `time` of day or a `date`.':
    'Worauf gewartet wird: eine Dauer (`duration`, Vorgabe), eine Uhrzeit (`time`) oder ein Datum (`date`).',
  'For a duration, days of 24 hours; for a time of day, the lowest number of calendar days to wait; for a date, the days of the offset.':
    'Die Tage einer Dauer zu je 24 Stunden; bei einer Uhrzeit die Kalendertage, die mindestens gewartet wird; bei einem Datum die Tage des Abstands.',
  'The hours of a duration or an offset, in addition to the days.': 'Die Stunden einer Dauer oder eines Abstands, zusätzlich zu den Tagen.',
  'The minutes of a duration or an offset, in addition to days and hours.':
    'Die Minuten einer Dauer oder eines Abstands, zusätzlich zu Tagen und Stunden.',
  'A time of day in the user’s time zone or, if the user has none, the project’s.':
    'Eine Uhrzeit in der Zeitzone des Nutzers, sonst in der des Projekts.',
  'For a time of day, the permitted weekdays: `mo` to `su`.': 'Bei einer Uhrzeit die erlaubten Wochentage: `mo` bis `su`.',
  'An ISO 8601 date, or Liquid that renders one.': 'Ein Datum nach ISO 8601, oder Liquid, das eines ergibt.',
  'Whether the offset is before or after the date. Default `after`.': 'Ob der Abstand vor oder nach dem Datum liegt. Vorgabe `after`.',
  'wait for 1 day and 12 hours': '1 Tag und 12 Stunden warten',
  'Wait until': 'Warten, bis',
  'Waits until an event occurs, until the user is in a list or matches a rule, or until the timeout ends.':
    'Wartet, bis ein Ereignis eintritt, bis der Nutzer in einer Liste ist oder eine Regel erfüllt, oder bis die Zeit um ist.',
  'The path that users take when this condition is met first.': 'Der Weg, wenn diese Bedingung als erste erfüllt ist.',
  'The event to wait for.': 'Das Ereignis, auf das gewartet wird.',
  'When events and list changes begin to count: when the user entered the journey (default), or reached the step.':
    'Ab wann Ereignisse und Änderungen von Listen zählen: seit dem Eintritt in die Journey (Vorgabe) oder seit der Ankunft am Schritt.',
  'The list to wait for.': 'Die Liste, auf die gewartet wird.',
  'Whether the user must be in the list, not be in it, enter it or leave it. Default `in`.':
    'Ob der Nutzer in der Liste sein muss oder nicht, oder sie betreten oder verlassen muss. Vorgabe `in`.',
  [`The rule that the user has to match. ${RULE}`]: `Die Regel, die erfüllt sein muss. ${REGEL}`,
  'Each item has exactly one of `event_name`, `list_id` and `rule`. If several conditions are met at once, the first one in the array applies.':
    'Jede hat genau eines von `event_name`, `list_id` und `rule`. Sind mehrere Bedingungen zugleich erfüllt, zählt die erste in der Liste.',
  [`The longest wait, at least 1 minute. Users who are still waiting after that time take the path \`timeout\`. ${DURATION.replace('200 years', '400 days')}`]: `Wie lange höchstens gewartet wird, mindestens 1 Minute. Wer danach noch wartet, nimmt den Weg \`timeout\`. ${DAUER.replace('200 Jahre', '400 Tage')}`,
  'wait until purchase occurs, then take the path bought, or the path timeout after 3 days':
    'warten, bis purchase eintritt, dann den Weg bought nehmen, oder nach 3 Tagen den Weg timeout',
}

const ENTERING: Translations = {
  Enter: 'Eingang',
  'Where users enter the journey, and what makes them enter.': 'Wo man in die Journey eintritt, und was dazu führt.',
  'What makes users enter.': 'Was zum Eintritt führt.',
  'The name of the event that makes users enter.': 'Der Name des Ereignisses, das zum Eintritt führt.',
  'Tests of the event’s data or the request’s data. All of them must pass, as in the `where` of a rule.':
    'Prüfungen der Daten des Ereignisses oder der Anfrage, wie in `where` einer Regel. Alle müssen zutreffen.',
  'With the trigger `list`, users enter the journey when they enter or leave this list. With `schedule`, the users in this list enter.':
    'Mit dem Auslöser `list` treten Nutzer ein, wenn sie diese Liste betreten oder verlassen. Mit `schedule` treten die Nutzer dieser Liste ein.',
  'Whether users enter the journey when they enter the list or when they leave it. Default `entered`.':
    'Ob Nutzer eintreten, wenn sie die Liste betreten, oder wenn sie sie verlassen. Vorgabe `entered`.',
  'A recurrence rule of RFC 5545 such as `FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0`: hourly or less often. The line before it may be a `DTSTART` without a time zone. Without a `DTSTART`, the schedule starts at publication.':
    'Eine Wiederholungsregel nach RFC 5545, etwa `FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0`: stündlich oder seltener. In der Zeile davor darf `DTSTART` ohne Zeitzone stehen. Ohne `DTSTART` beginnt der Plan mit der Veröffentlichung.',
  'The time zone of the schedule: that of the `project` (default), or that of each `user`.':
    'Die Zeitzone des Plans: die des Projekts (`project`, Vorgabe) oder die jedes Nutzers (`user`).',
  [`A rule that the user must match. ${RULE}`]: `Eine Regel, die erfüllt sein muss. ${REGEL}`,
  Rule: 'Regel',
  'Whether a user may enter more than once.': 'Ob jemand mehr als einmal eintreten darf.',
  'Whether a user may enter again while still in the journey.': 'Ob jemand erneut eintreten darf, während er noch in der Journey ist.',
  'A path in the data of an event or a request, such as `data.cart_id`; not with the triggers `list` and `schedule`. `multiple`, `concurrent` and `on_repeat` then apply to each value separately. Later events with another value neither end waits nor meet exit criteria. A value that no event or request has had for `JOURNEY_KEY_RETENTION_DAYS` is treated as new.':
    'Ein Pfad in den Daten eines Ereignisses oder einer Anfrage, etwa `data.cart_id`; nicht bei den Auslösern `list` und `schedule`. `multiple`, `concurrent` und `on_repeat` gelten dann für jeden Wert getrennt. Spätere Ereignisse mit einem anderen Wert beenden kein Warten und erfüllen kein Austrittskriterium. Ein Wert, den `JOURNEY_KEY_RETENTION_DAYS` lang kein Ereignis und keine Anfrage hatte, gilt als neu.',
  'What happens if the user enters again while in the journey: nothing (`ignore`, default), the user starts again (`restart`), or the entry event is replaced (`update`).':
    'Was geschieht, wenn der Nutzer erneut eintritt, während er in der Journey ist: nichts (`ignore`, Vorgabe), neu beginnen (`restart`) oder das Ereignis des Eintritts ersetzen (`update`).',
  [`How long after an entry the user must wait before entering again. ${DURATION.replace('200 years', '3650 days')}`]: `Wie lange nach einem Eintritt vor dem nächsten gewartet werden muss. ${DAUER.replace('200 Jahre', '3650 Tage')}`,
  'Whether users created by an import enter through the event `user_created`. Default false.':
    'Ob Nutzer, die ein Import anlegt, durch das Ereignis `user_created` eintreten. Vorgabe nein.',
  'Whether users who are in the list when the journey is published enter too. Default false.':
    'Ob auch eintritt, wer bei der Veröffentlichung schon in der Liste ist. Vorgabe nein.',
  'users enter when order_placed occurs, any number of times, but not while still in the journey':
    'eintreten, wenn order_placed eintritt, beliebig oft, aber nicht, solange man noch in der Journey ist',
}

const EXITING: Translations = {
  Exit: 'Austritt',
  'Ends the journey for the user. With `when`, it ends the journey for every user who meets a criterion, whichever step they are at.':
    'Beendet die Journey für den Nutzer. Mit `when` beendet er sie für alle in der Journey, die ein Kriterium erfüllen, an welchem Schritt sie auch sind.',
  'Whether the user is counted as `completed` (default) or `exited`.':
    'Ob die Journey als abgeschlossen (`completed`, Vorgabe) oder verlassen (`exited`) gilt.',
  'The reason shown in the user’s timeline.': 'Der Grund, den der Verlauf des Nutzers zeigt.',
  'The name of the event. Users who have this event exit the journey.': 'Der Name des Ereignisses. Wer es hat, verlässt die Journey.',
  'Tests of the event’s data. All of them must pass, as in the `where` of a rule.':
    'Prüfungen der Daten des Ereignisses, wie in `where` einer Regel. Alle müssen zutreffen.',
  'Users who enter this list exit the journey; with `change` set to `left`, users who leave it.':
    'Wer diese Liste betritt, verlässt die Journey; mit `change` auf `left`, wer die Liste verlässt.',
  'Whether users exit the journey when they enter the list or when they leave it. Default `entered`.':
    'Ob jemand die Journey beim Betreten oder beim Verlassen der Liste verlässt. Vorgabe `entered`.',
  [`Users who match this rule exit the journey. ${RULE}`]: `Wer sie erfüllt, verlässt die Journey. ${REGEL}`,
  'Makes the step an exit criterion. It is checked for every user in the journey, and no other step leads to it. Each item has exactly one of `event_name`, `list_id` and `rule`.':
    'Macht den Schritt zu einem Austrittskriterium. Es wird für alle in der Journey geprüft, und kein anderer Schritt führt dorthin. Jedes hat genau eines von `event_name`, `list_id` und `rule`.',
  'leave the journey as exited with the reason bought, as soon as purchase occurs':
    'die Journey mit dem Grund bought verlassen, sobald purchase eintritt',
  'Go to another journey': 'In eine andere Journey gehen',
  'Makes the user enter another journey. Without a next step, the user completes this journey; with one, the user is in both.':
    'Lässt den Nutzer in eine andere Journey eintreten. Ohne nächsten Schritt schließt er diese Journey ab; mit einem ist er in beiden.',
  'The journey to enter.': 'Die Journey, in die eingetreten wird.',
  'The key of the entrance in that journey. Default: the first one with the trigger `none`, or else with `api`, `event`, `list` or `schedule`, in this order.':
    'Der Schlüssel des Eingangs in jener Journey. Vorgabe: der erste mit dem Auslöser `none`, sonst mit `api`, `event`, `list` oder `schedule`, in dieser Reihenfolge.',
  'go to the journey 5': 'in die Journey 5 gehen',
}

const DECIDING: Translations = {
  Experiment: 'Versuch',
  'Divides users at random among several paths. A user takes the same path each time.':
    'Verteilt zufällig auf mehrere Wege. Ein Nutzer nimmt jedes Mal denselben Weg.',
  'The path of this share of the users.': 'Der Weg des Anteils.',
  'The share of the users who take the path, relative to the other weights.':
    'Der Anteil derer, die den Weg nehmen, im Verhältnis zu den anderen Gewichten.',
  'The paths with their relative weights. A path with the weight 0 gets no users.':
    'Die Wege mit ihren Gewichten. Ein Weg mit dem Gewicht 0 bekommt niemanden.',
  '75% of users take the path a, and 25% take the path b': '75 % nehmen den Weg a und 25 % den Weg b',
  Decide: 'Entscheiden',
  'Divides users by a rule: those who match it take the path `yes`, others take `no`. With `branches`, it divides users among several paths.':
    'Teilt nach einer Regel: wer sie erfüllt, nimmt den Weg `yes`, sonst `no`. Mit `branches` verteilt er auf mehrere Wege.',
  [`Users who match this rule take the path \`yes\`, others take \`no\`. ${RULE}`]: `Wer diese Regel erfüllt, nimmt den Weg \`yes\`, sonst \`no\`. ${REGEL}`,
  'The path of users who match.': 'Der Weg für alle, die sie erfüllen.',
  'Tests of the entry event (`event.data.total`) or of the answer to a webhook step (`journey.score.body.points`). All of them must pass, as in the `where` of a rule.':
    'Prüfungen des Ereignisses beim Eintritt (`event.data.total`) oder der Antwort eines Webhooks (`journey.score.body.points`), wie in `where` einer Regel. Alle müssen zutreffen.',
  'Used instead of `rule`. Users take the first branch that they match. Users who match none take the path `else`.':
    'Anstelle von `rule`. Nutzer nehmen den ersten Zweig, den sie erfüllen. Wer keinen erfüllt, nimmt den Weg `else`.',
  'take the path yes if plan is “pro”, otherwise the path no': 'den Weg yes nehmen, wenn plan „pro“ ist, sonst den Weg no',
}

const CHANGING: Translations = {
  'Record an event': 'Ereignis festhalten',
  'Records an event for the user. It can trigger campaigns, make the user enter other journeys, and end waits.':
    'Hält beim Nutzer ein Ereignis fest. Es kann Kampagnen auslösen, in andere Journeys führen und Warten beenden.',
  'The name of the event. The names of system events, such as `email_sent`, are reserved.':
    'Der Name des Ereignisses. Namen von Systemereignissen wie `email_sent` sind vergeben.',
  'The attributes of the event. Strings may contain Liquid. At most 32 KiB as JSON.':
    'Die Attribute des Ereignisses. Texte dürfen Liquid enthalten. Höchstens 32 KiB als JSON.',
  'record the event trial_started with the plan “pro”': 'das Ereignis trial_started mit dem Plan „pro“ festhalten',
  'Change a list': 'Liste ändern',
  'Adds the user to a static list, or removes the user from it.': 'Nimmt den Nutzer in eine statische Liste auf oder entfernt ihn daraus.',
  'The static list.': 'Die statische Liste.',
  'Whether to add the user to the list (default) or to remove the user.': 'Ob der Nutzer aufgenommen (Vorgabe) oder entfernt wird.',
  'add to the list 12': 'in die Liste 12 aufnehmen',
  'Change a subscription': 'Abonnement ändern',
  'Subscribes the user to a subscription type, or unsubscribes the user from it.':
    'Meldet den Nutzer für einen Abonnementtyp an oder von ihm ab.',
  'The subscription type.': 'Der Abonnementtyp.',
  '0 unsubscribes the user, and 1 subscribes the user. A user who has unsubscribed is not subscribed again, and a confirmed user stays confirmed.':
    '0 meldet den Nutzer ab, 1 meldet ihn an. Wer sich abgemeldet hat, wird nicht wieder angemeldet, und wer bestätigt hat, bleibt bestätigt.',
  'unsubscribe from the type 3': 'vom Abonnementtyp 3 abmelden',
  'Update attributes': 'Attribute ändern',
  'Changes attributes of the user.': 'Ändert Attribute des Nutzers.',
  'Attributes to merge into the user’s `data`; null removes one. Strings may contain Liquid. At most 32 KiB as JSON.':
    'Attribute, die zu `data` des Nutzers hinzukommen; null entfernt eines. Texte dürfen Liquid enthalten. Höchstens 32 KiB als JSON.',
  'set onboarded to true': 'onboarded auf true setzen',
}

export const german: Translations = { ...SETTINGS, ...SENDING, ...WAITING, ...ENTERING, ...EXITING, ...DECIDING, ...CHANGING }
