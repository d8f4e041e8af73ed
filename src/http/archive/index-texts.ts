import type { Language } from '../../domain/language.ts'

// The words of the index of a person's export, in each language.

/** A text in every language. */
export type Text<Value = string> = Readonly<Record<Language, Value>>

function both<Value>(en: Value, de: Value): Text<Value> {
  return { en, de }
}

type Say<Arguments extends string[]> = (...facts: Arguments) => string

export const texts = {
  title: both<Say<[organisation: string]>>(
    (organisation) => `Your data at ${organisation}`,
    (organisation) => `Ihre Daten bei ${organisation}`,
  ),
  heading: both('Your data', 'Ihre Daten'),
  lead: both<Say<[organisation: string]>>(
    (organisation) => `This is a copy of the data that ${organisation} has recorded about you.`,
    (organisation) => `Dies ist eine Kopie der Daten, die ${organisation} über Sie erfasst hat.`,
  ),
  nothingLead: both<Say<[organisation: string]>>(
    (organisation) => `${organisation} has looked for data about you, and found none.`,
    (organisation) => `${organisation} hat nach Daten über Sie gesucht und keine gefunden.`,
  ),
  hiddenLead: both<Say<[organisation: string]>>(
    (organisation) =>
      `${organisation} holds no recent data about you. Data older than its retention period will soon be deleted and is not part of this copy.`,
    (organisation) =>
      `${organisation} hat keine neueren Daten über Sie gespeichert. Daten, deren Aufbewahrungsfrist abgelaufen ist, werden bald gelöscht und sind nicht Teil dieser Kopie.`,
  ),
  requestedOn: both('You asked on', 'Ihre Anfrage vom'),
  copiedAt: both('Copied on', 'Kopiert am'),
  reference: both('Reference', 'Aktenzeichen'),
  inUtc: both<Say<[moment: string]>>(
    (moment) => `${moment} (UTC)`,
    (moment) => `${moment} (UTC)`,
  ),

  overview: both('At a glance', 'Auf einen Blick'),
  records: both<[one: string, many: string]>(['record', 'records'], ['Datensatz', 'Datensätze']),
  visits: both<[one: string, many: string]>(['visit', 'visits'], ['Besuch', 'Besuche']),
  events: both<[one: string, many: string]>(['event', 'events'], ['Ereignis', 'Ereignisse']),
  period: both<Say<[first: string, last: string]>>(
    (first, last) => `From ${first} to ${last}.`,
    (first, last) => `Vom ${first} bis zum ${last}.`,
  ),
  day: both<Say<[day: string]>>(
    (day) => `On ${day}.`,
    (day) => `Am ${day}.`,
  ),
  words: both(
    'A record is what one website or app has recorded about one browser or account. A visit is a period in which it was used. An event is something that happened during a visit, such as opening a page.',
    'Ein Datensatz enthält, was eine Website oder App über einen Browser oder ein Konto erfasst hat. Ein Besuch ist ein Zeitraum, in dem sie benutzt wurde. Ein Ereignis ist etwas, das während eines Besuchs geschah, zum Beispiel das Öffnen einer Seite.',
  ),
  searchedFor: both('This is what we searched for:', 'Danach haben wir gesucht:'),
  searchedEverywhere: both(
    'We searched all of our websites and apps.',
    'Wir haben alle unsere Websites und Apps durchsucht.',
  ),
  searchedRecords: both(
    'We looked up the records that your request names.',
    'Wir haben die Datensätze nachgeschlagen, die Ihre Anfrage nennt.',
  ),
  months: both('Visits and events by month', 'Besuche und Ereignisse nach Monaten'),
  lastMonths: both<Say<[shown: string]>>(
    (shown) => `The last ${shown} months with data.`,
    (shown) => `Die letzten ${shown} Monate mit Daten.`,
  ),
  month: both('Month', 'Monat'),
  visitsHead: both('Visits', 'Besuche'),
  eventsHead: both('Events', 'Ereignisse'),

  files: both('What is in this archive', 'Was dieses Archiv enthält'),
  file: both('File', 'Datei'),
  contents: both('Contents', 'Inhalt'),
  thisPage: both('This page: a summary for people', 'Diese Seite: eine Zusammenfassung für Menschen'),
  recordFile: both<Say<[number: string, tracker: string]>>(
    (number, tracker) => `Record ${number} (${tracker}), complete: every visit and every event`,
    (number, tracker) => `Datensatz ${number} (${tracker}), vollständig: jeder Besuch und jedes Ereignis`,
  ),
  moreFiles: both<Say<[count: string]>>(
    (count) => `${count} more files in the folder “records”, one for each record`,
    (count) => `${count} weitere Dateien im Ordner „records“, eine für jeden Datensatz`,
  ),
  schemaFile: both(
    'A description of the record files for programs (JSON Schema)',
    'Eine Beschreibung dieser Dateien für Programme (JSON Schema)',
  ),
  howToRead: both(
    'Files that end in .json are plain text. Every text editor and most browsers open them, and other programs and services can read them, so you can take your data elsewhere. Extract the archive first, so that the links on this page work.',
    'Dateien mit der Endung .json sind einfacher Text. Jeder Texteditor und die meisten Browser öffnen sie, und andere Programme und Dienste können sie lesen: Sie können Ihre Daten mitnehmen. Entpacken Sie das Archiv zuerst, damit die Links auf dieser Seite funktionieren.',
  ),
  complete: both(
    'The archive is complete: one that was cut off cannot be opened.',
    'Das Archiv ist vollständig: Ein unvollständiges lässt sich nicht öffnen.',
  ),

  record: both<Say<[number: string]>>(
    (number) => `Record ${number}`,
    (number) => `Datensatz ${number}`,
  ),
  moreRecords: both<Say<[count: string]>>(
    (count) =>
      `There are ${count} more records. Like the records above, they are in the folder “records” of this archive.`,
    (count) =>
      `Es gibt ${count} weitere Datensätze. Sie sind wie die obigen im Ordner „records“ dieses Archivs.`,
  ),
  from: both('Recorded by', 'Erfasst von'),
  id: both('ID', 'Kennung'),
  firstSeen: both('Oldest data', 'Älteste Daten'),
  lastSeen: both('Newest data', 'Neueste Daten'),
  size: both('Amount', 'Umfang'),
  onDays: both<Say<[days: string]>>(
    (days) => `on ${days}`,
    (days) => `an ${days}`,
  ),
  /** The dative. */
  daysOn: both<[one: string, many: string]>(['day', 'days'], ['Tag', 'Tagen']),
  completeIn: both('Complete in', 'Vollständig in'),
  identifiers: both('What identifies you', 'Was Sie erkennbar macht'),
  attributes: both('Your device and how you came', 'Ihr Gerät und wie Sie kamen'),
  attributesNote: both('As of the newest visit.', 'Stand des neuesten Besuchs.'),
  what: both('What', 'Was'),
  value: both('Value', 'Wert'),
  byName: both('Events by name', 'Ereignisse nach Namen'),
  otherNames: both('All other names', 'Alle anderen Namen'),
  newestOf: both<Say<[shown: string, all: string, file: string]>>(
    (shown, all, file) => `The newest ${shown} of ${all}. All ${all} are in ${file}.`,
    (shown, all, file) => `Die neuesten ${shown} von ${all}. Alle ${all} sind in ${file}.`,
  ),
  onlyInFile: both<Say<[all: string, file: string]>>(
    (all, file) => `All ${all} are in ${file}.`,
    (all, file) => `Alle ${all} sind in ${file}.`,
  ),
  started: both('Started', 'Beginn'),
  ended: both('Ended', 'Ende'),
  when: both('When', 'Wann'),
  event: both('Event', 'Ereignis'),
  details: both('Details', 'Einzelheiten'),
  tooLong: both('Too long for this page; see the file.', 'Zu lang für diese Seite, siehe Datei.'),
  moreDetails: both<Say<[count: string]>>(
    (count) => `and ${count} more, see the file`,
    (count) => `und ${count} weitere, siehe Datei`,
  ),
  timesNote: both(
    'All times on this page are in Coordinated Universal Time (UTC).',
    'Alle Zeiten auf dieser Seite sind in koordinierter Weltzeit (UTC).',
  ),

  keeping: both('How long we keep it', 'Wie lange wir sie aufbewahren'),
  keptFor: both<Say<[days: string]>>(
    (days) =>
      `We keep visits and events for ${days} days. Then they are deleted automatically. Data that is older is not part of this copy.`,
    (days) =>
      `Wir bewahren Besuche und Ereignisse ${days} Tage auf. Danach werden sie automatisch gelöscht. Ältere Daten sind nicht Teil dieser Kopie.`,
  ),
  expiry: both<Say<[first: string, last: string]>>(
    (first, last) =>
      `The oldest data in this copy will be deleted on ${first}. Unless there are new visits, all of it will be deleted by ${last}.`,
    (first, last) =>
      `Die ältesten Daten dieser Kopie werden am ${first} gelöscht. Ohne neue Besuche sind bis zum ${last} alle gelöscht.`,
  ),
  expiryOnce: both<Say<[day: string]>>(
    (day) => `Unless there are new visits, all data in this copy will be deleted on ${day}.`,
    (day) => `Ohne neue Besuche werden alle Daten dieser Kopie am ${day} gelöscht.`,
  ),
  meaning: both('Where it comes from and what it means', 'Woher sie kommen und was sie bedeuten'),
  origin: both(
    'The data was recorded while the named website or app was used.',
    'Die Daten wurden erfasst, während die genannte Website oder App benutzt wurde.',
  ),
  pseudonyms: both(
    'IDs are pseudonyms: random or computed characters that tell a browser, an account or a visit apart from others. They do not say who you are by themselves. Together with what identifies you, they do.',
    'Kennungen sind Pseudonyme: zufällige oder berechnete Zeichen, die einen Browser, ein Konto oder einen Besuch von anderen unterscheiden. Für sich genommen sagen sie nicht, wer Sie sind. Zusammen mit dem, was Sie erkennbar macht, schon.',
  ),
  asking: both('Whom to ask', 'Wen Sie fragen können'),
  askUs: both<Say<[organisation: string]>>(
    (organisation) =>
      `If something is unclear or wrong, or if you want this data erased, contact ${organisation}:`,
    (organisation) =>
      `Wenn etwas unklar oder falsch ist oder wenn diese Daten gelöscht werden sollen, wenden Sie sich an ${organisation}:`,
  ),
  answerUs: both<Say<[organisation: string]>>(
    (organisation) =>
      `If something is unclear or wrong, or if you want this data erased, reply to the message with which ${organisation} sent you this copy.`,
    (organisation) =>
      `Wenn etwas unklar oder falsch ist oder wenn diese Daten gelöscht werden sollen, antworten Sie auf die Nachricht, mit der ${organisation} Ihnen diese Kopie geschickt hat.`,
  ),
  nameReference: both<Say<[reference: string]>>(
    (reference) => `Please mention the reference ${reference}.`,
    (reference) => `Bitte nennen Sie das Aktenzeichen ${reference}.`,
  ),
  authority: both(
    'You may also complain to a data protection authority.',
    'Sie können sich auch bei einer Datenschutzbehörde beschweren.',
  ),
} as const

/** What well-known attributes, properties and identifiers are called. */
export const fieldNames: Readonly<Record<string, Text>> = {
  browser: both('Browser', 'Browser'),
  city: both('City', 'Stadt'),
  country: both('Country', 'Land'),
  customerId: both('Customer number', 'Kundennummer'),
  device: both('Device', 'Gerät'),
  email: both('E-mail address', 'E-Mail-Adresse'),
  language: both('Language', 'Sprache'),
  os: both('Operating system', 'Betriebssystem'),
  phone: both('Phone number', 'Telefonnummer'),
  query: both('Search terms', 'Suchbegriffe'),
  referrer: both('Came from', 'Gekommen von'),
  region: both('Region', 'Region'),
  screen: both('Screen', 'Bildschirm'),
  title: both('Title', 'Titel'),
  url: both('Address', 'Adresse'),
  userAgent: both('Browser as it identifies itself', 'Browser, wie er sich ausweist'),
  userId: both('User ID', 'Benutzerkennung'),
}

/** What well-known events are. */
export const eventNames: Readonly<Record<string, Text>> = {
  click: both('Click', 'Klick'),
  download: both('Download', 'Download'),
  login: both('Sign-in', 'Anmeldung'),
  page_view: both('Page opened', 'Seite geöffnet'),
  pageview: both('Page opened', 'Seite geöffnet'),
  purchase: both('Purchase', 'Kauf'),
  search: both('Search', 'Suche'),
  signup: both('Registration', 'Registrierung'),
}
