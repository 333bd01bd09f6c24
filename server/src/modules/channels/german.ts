/** The fields of providers in German, by their English texts. Names that providers have for them stay. */
import type { Translations } from '../../lib/translated.ts'
import { providers } from './registry.ts'

const shared: Translations = {
  'Apple push (APNs)': 'Apple-Push (APNs)',
  'Private key': 'Privater Schlüssel',
  'The content of the .p8 file.': 'Der Inhalt der .p8-Datei.',
  'Bundle ID': 'Bundle-ID',
  'The bundle ID of the app, which is the topic of its push messages.': 'Die Bundle-ID der App, die das Topic ihrer Push-Nachrichten ist.',
  'Team ID': 'Team-ID',
  'Key ID': 'Schlüssel-ID',
  Environment: 'Umgebung',
  Host: 'Server',
  'A host to use instead of Apple’s, with a port if needed.': 'Ein Server anstelle desjenigen von Apple, nötigenfalls mit Port.',
  Discard: 'Verwerfen',
  'Service account': 'Dienstkonto',
  'The content of the service account’s key file, as JSON.': 'Der Inhalt seiner Schlüsseldatei, der JSON ist.',
  Secret: 'Geheimnis',
  'If a secret is set, every request has a `Service-Signature` header, as webhook requests do.':
    'Wenn es gesetzt ist, hat jede Anfrage eine `Service-Signature`, wie die der Webhooks.',
  'In-app inbox': 'Postfach in der App',
  'API key': 'API-Schlüssel',
  'A sending key for the domain is sufficient.': 'Ein Schlüssel der Domain zum Senden genügt.',

  'Webhook signing key': 'Signaturschlüssel der Webhooks',
  'Without it, reports from the provider are refused.': 'Ohne ihn werden Berichte des Anbieters abgelehnt.',
  Sender: 'Absender',
  'The sender of emails whose template has none, such as `Carillon <hello@example.com>`.':
    'Der Absender von E-Mails, deren Vorlage keinen hat, etwa `Carillon <hallo@example.com>`.',
  'Access key': 'Zugangsschlüssel',
  'Signing key': 'Signaturschlüssel',
  'The key with which reports are signed.': 'Der Schlüssel, mit dem Berichte signiert sind.',
  Originator: 'Absenderkennung',
  'A number or an alphanumeric sender id.': 'Eine Nummer oder eine alphanumerische Absenderkennung.',
  'Bounce domain': 'Domain der Rückläufer',
  'A domain whose email is delivered to this server, such as `bounce.example.com`. Default: the return path of the sender’s domain, if it has one.':
    'Eine Domain, deren E-Mail an diesen Server geht, etwa `bounce.example.com`. Vorgabe: der Rückweg der Domain des Absenders, wenn sie einen hat.',
  'Auth ID': 'Auth-ID',
  'Auth token': 'Auth-Token',
  'A number in E.164, a short code or an alphanumeric sender id.':
    'Eine Nummer nach E.164, eine Kurzwahl oder eine alphanumerische Absenderkennung.',
  'Powerpack UUID': 'UUID des Powerpacks',
  'Server API token': 'API-Token des Servers',
  'Message stream': 'Nachrichtenstrom',
  'Use a broadcast stream for marketing. Default: `outbound`.': 'Für Werbung ist es ein Broadcast-Strom. Vorgabe: `outbound`.',
  'Webhook user name': 'Benutzername des Webhooks',
  'User name in the webhook’s URL. Without it and the password, reports from the provider are refused.':
    'Der Benutzername in der URL des Webhooks. Ohne ihn und das Passwort werden Berichte des Anbieters abgelehnt.',
  'Webhook password': 'Passwort des Webhooks',
  'Webhook secret': 'Geheimnis des Webhooks',
  Sandbox: 'Sandbox',
  'The key needs the scope `mail.send`.': 'Er braucht die Berechtigung `mail.send`.',
  'Default: `global`.': 'Vorgabe: `global`.',
  'Verification key': 'Prüfschlüssel',
  'The key of the signed event webhook. Without it, reports from the provider are refused.':
    'Der Schlüssel des signierten Event-Webhooks. Ohne ihn werden Berichte des Anbieters abgelehnt.',
  'Access key id': 'Access-Key-ID',
  'Secret access key': 'Geheimer Zugangsschlüssel',
  'The key of a user with the permissions `ses:SendEmail` and `ses:GetAccount`.':
    'Der Schlüssel eines Benutzers mit den Berechtigungen `ses:SendEmail` und `ses:GetAccount`.',
  'Configuration set': 'Configuration Set (SES)',
  'SNS topic': 'SNS-Topic',
  'The topic to which the configuration set publishes events. Without it, reports from the provider are refused.':
    'Das Topic, an das das Configuration Set Ereignisse meldet. Ohne es werden Berichte des Anbieters abgelehnt.',
  'Usually 587 with `starttls`, or 465 with `implicit`.': 'Üblich sind 587 mit `starttls` und 465 mit `implicit`.',
  Encryption: 'Verschlüsselung',
  '`implicit` and `starttls` require encryption and a valid certificate; `opportunistic` uses encryption if it is offered.':
    '`implicit` und `starttls` verlangen Verschlüsselung und ein gültiges Zertifikat; `opportunistic` verschlüsselt, wenn es angeboten wird.',
  'User name': 'Benutzername',
  Password: 'Passwort',
  Connections: 'Verbindungen',
  'The maximum number of connections per process. Default: 10.': 'Die größte Anzahl von Verbindungen jedes Prozesses. Vorgabe: 10.',
  'Public key': 'Öffentlicher Schlüssel',
  'The public key of the account in Base64, used to verify reports.':
    'Der öffentliche Schlüssel des Kontos in Base64, mit dem Berichte geprüft werden.',
  'Messaging profile': 'Nachrichtenprofil',
  'Required for alphanumeric senders and number pools.': 'Nötig für alphanumerische Absender und Nummernpools.',
  'Account SID': 'Account-SID',
  'Reports are signed with this token, even if messages are sent with an API key.':
    'Berichte sind damit signiert, auch wenn Nachrichten mit einem API-Schlüssel gesendet werden.',
  'API key SID': 'SID des API-Schlüssels',
  'API key secret': 'Geheimnis des API-Schlüssels',
  'Messaging service SID': 'SID des Messaging Service',
  'API secret': 'API-Geheimnis',
  'Signature secret': 'Signaturgeheimnis',
  'The signature secret of the account, with which reports are signed.':
    'Das Signaturgeheimnis des Kontos, mit dem Berichte signiert sind.',
  'Web Push': 'Web-Push',
  Contact: 'Kontakt',
  'A `mailto:` or `https://` address for push services.': 'Eine Adresse mit `mailto:` oder `https://` für Push-Dienste.',
  'Public VAPID key': 'Öffentlicher VAPID-Schlüssel',
  'The key with which the website subscribes, in URL-safe Base64.': 'Der Schlüssel, mit dem die Website abonniert, in URL-sicherem Base64.',
  'Private VAPID key': 'Privater VAPID-Schlüssel',
}

/** The texts above, and those that providers have in their own files. */
export const german: Translations = Object.assign({}, shared, ...Object.values(providers).map((provider) => provider.german))
