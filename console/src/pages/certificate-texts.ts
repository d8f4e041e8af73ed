import type { OrganisationProfile } from '../types.ts'
import type { Actor, Happened } from './certified.ts'

// The words of certificates, which people outside of the organisation read, in each language.

type Language = OrganisationProfile['language']

type Noun = readonly [one: string, many: string]

/** The words of a language, and how it writes numbers and dates. Times are in UTC. */
export interface Words {
  language: Language
  texts: typeof english
  number(number: number): string
  /** A number with its noun. */
  counted(number: number, noun: Noun): string
  day(at: string): string
  moment(at: string): string
}

function happenedInEnglish({ what, whom, count }: Happened): string {
  const several = numbersIn('en').format(count)
  if (what === 'nothing-held') {
    if (whom === 'person') return 'Nothing was held about one person.'
    const noun = whom === 'records' ? 'ID' : 'identifier'
    return `Nothing was held under ${count === 1 ? `one ${noun}` : `${several} ${noun}s`}.`
  }
  const held =
    whom === 'person' ? 'about one person' : `in ${count === 1 ? 'one record' : `${several} records`}`
  if (what === 'erased') return `Everything we held ${held} was erased.`
  if (what === 'partly-erased') return `Part of what we held ${held} was erased.`
  if (what === 'none-erased') return `Nothing of what we held ${held} was erased by this request.`
  if (what === 'erased-until-closed')
    return `Everything we had found ${held} was erased, but the request was closed before the last search.`
  if (what === 'nothing-until-closed')
    return `Nothing had been found ${held} when the request was closed before the last search.`
  return `Everything we had found ${held} was erased, but new data has arrived since.`
}

function happenedInGerman({ what, whom, count }: Happened): string {
  const several = numbersIn('de').format(count)
  if (what === 'nothing-held') {
    if (whom === 'person') return 'Über eine Person war nichts gespeichert.'
    const [one, many] = whom === 'records' ? ['einer ID', 'IDs'] : ['einer Kennung', 'Kennungen']
    return `Unter ${count === 1 ? one : `${several} ${many}`} war nichts gespeichert.`
  }
  const held =
    whom === 'person'
      ? 'über eine Person'
      : `in ${count === 1 ? 'einem Datensatz' : `${several} Datensätzen`}`
  if (what === 'erased') return `Alles, was wir ${held} gespeichert hatten, wurde gelöscht.`
  if (what === 'partly-erased') return `Ein Teil dessen, was wir ${held} gespeichert hatten, wurde gelöscht.`
  if (what === 'none-erased')
    return `Nichts von dem, was wir ${held} gespeichert hatten, wurde durch diese Anfrage gelöscht.`
  if (what === 'erased-until-closed')
    return `Alles, was wir ${held} gefunden hatten, wurde gelöscht, aber die Anfrage wurde vor der letzten Suche geschlossen.`
  if (what === 'nothing-until-closed')
    return `Bis die Anfrage vor der letzten Suche geschlossen wurde, war ${held} nichts gefunden worden.`
  return `Alles, was wir ${held} gefunden hatten, wurde gelöscht, aber seitdem sind neue Daten eingegangen.`
}

const english = {
  title: { erased: 'Certificate of erasure', nothing: 'Certificate that nothing is held' },
  number: (numbers: string) => `No. ${numbers}`,
  happened: happenedInEnglish,
  record: ['record', 'records'] as Noun,
  visit: ['visit', 'visits'] as Noun,
  event: ['event', 'events'] as Noun,
  after: (days: number) =>
    days === 0 ? 'on the same day' : days === 1 ? 'after 1 day' : `after ${days} days`,
  erasedOn: 'Erased on',
  searchedOn: 'Searched on',
  receivedOn: 'Received on',
  dueOn: 'Due on',
  answeredOn: 'Answered on',
  cancelledOn: 'Cancelled on',
  carriedOutBy: 'Carried out by',
  byKey: (name: string) => `API key ${name}`,
  byCommandLine: 'Command line',
  byNobodyKnown: 'no longer recorded',
  reference: 'Reference',
  requestId: 'Request ID',
  excluded: (count: number, { number }: Words) =>
    count === 1
      ? 'The search also found one record that is not about this person. It was excluded by hand and not erased.'
      : `The search also found ${number(count)} records that are not about this person. They were excluded by hand and not erased.`,
  missing: {
    title: 'Not everything was erased.',
    waiting: 'not erased yet',
    stopped: 'not erased, because the erasure was stopped',
    gone: 'deleted together with their tracker, without a receipt',
    left: 'with new data that arrived after the last search',
  },
  entries: {
    title: 'Entries in the ledger',
    number: 'No.',
    what: 'Erased',
    where: 'Tracker',
    when: 'Time (UTC)',
    nothing: (identifier: string | null) =>
      identifier === null ? 'nothing was held' : `nothing was held (${identifier})`,
    nothingVisible: 'no visible data',
    everywhere: 'all',
    download: 'Download this entry with its proof',
  },
  checks: {
    title: 'Checked in this browser',
    entries: (count: number, { number }: Words) =>
      count === 1 ? 'The entry is in the ledger' : `All ${number(count)} entries are in the ledger`,
    root: (size: string) => `of ${size} with the root hash`,
    size: ['entry', 'entries'] as Noun,
    signed: 'The ledger is signed',
    by: 'by',
    receipts: (valid: number, entries: number, { number }: Words) => {
      if (valid < entries) return `${number(valid)} of ${number(entries)} receipts are available and valid`
      return valid === 1 ? 'The receipt is valid' : `All ${number(valid)} receipts are valid`
    },
    proof: 'as proof for anyone who knows the ID or the identifier',
    refused: (number: string) => `Verification of entry ${number} failed:`,
    unknown: (number: string) => `This browser cannot verify entry ${number}:`,
  },
  seal: {
    verified: 'Verified',
    refused: 'Not verified',
    unknown: 'Not checked',
    incomplete: 'Incomplete',
    inThisBrowser: 'in this browser',
    seeDetails: 'see details',
  },
  verify: {
    title: 'Check it yourself',
    how: (organisation: string) =>
      `Scan the code or open the address, and drop the receipts that you got from ${organisation} on the page. It shows step by step that they belong to this certificate, that the ledger contains the entries, and that it is signed. It needs no account and sends nothing.`,
    compare: (organisation: string) =>
      `Compare the verifier key with the one that ${organisation} publishes elsewhere.`,
    anonymous:
      'This certificate identifies nobody. Only the receipts prove to those who know the ID or the identifier whom it is about.',
    address: 'Address',
    key: 'Verifier key',
    digest: 'Digest',
    permanent: 'Certificate',
    code: 'QR code that opens the page for checking receipts, with the digest of this certificate',
  },
  scrub: {
    done: (day: string, everyByte: boolean) =>
      `The data has been inaccessible since its erasure. The scrub on ${day} ${everyByte ? 'removed every byte of it from' : 'freed the space it used in'} the store’s files.`,
    pending: (everyByte: boolean) =>
      `The data has been inaccessible since its erasure. The next nightly scrub will ${everyByte ? 'remove every byte of it from' : 'free the space it used in'} the store’s files.`,
    late: 'Earlier data that arrives later, from an import or a backup, is rejected.',
  },
}

const german: typeof english = {
  title: {
    erased: 'Bescheinigung über eine Löschung',
    nothing: 'Bescheinigung, dass nichts gespeichert ist',
  },
  number: (numbers) => `Nr. ${numbers}`,
  happened: happenedInGerman,
  record: ['Datensatz', 'Datensätze'],
  visit: ['Besuch', 'Besuche'],
  event: ['Ereignis', 'Ereignisse'],
  after: (days) => (days === 0 ? 'am selben Tag' : days === 1 ? 'nach 1 Tag' : `nach ${days} Tagen`),
  erasedOn: 'Gelöscht am',
  searchedOn: 'Gesucht am',
  receivedOn: 'Eingegangen am',
  dueOn: 'Frist bis zum',
  answeredOn: 'Beantwortet am',
  cancelledOn: 'Abgebrochen am',
  carriedOutBy: 'Durchgeführt von',
  byKey: (name) => `API-Schlüssel ${name}`,
  byCommandLine: 'Kommandozeile',
  byNobodyKnown: 'nicht mehr aufgezeichnet',
  reference: 'Aktenzeichen',
  requestId: 'Request-ID',
  excluded: (count, { number }) =>
    count === 1
      ? 'Die Suche fand auch einen Datensatz, der nicht diese Person betrifft. Er wurde von Hand ausgenommen und nicht gelöscht.'
      : `Die Suche fand auch ${number(count)} Datensätze, die nicht diese Person betreffen. Sie wurden von Hand ausgenommen und nicht gelöscht.`,
  missing: {
    title: 'Nicht alles wurde gelöscht.',
    waiting: 'noch nicht gelöscht',
    stopped: 'nicht gelöscht, weil die Löschung abgebrochen wurde',
    gone: 'zusammen mit ihrem Tracker gelöscht, ohne Beleg',
    left: 'mit neuen Daten, die nach der letzten Suche eingegangen sind',
  },
  entries: {
    title: 'Einträge im Löschverzeichnis',
    number: 'Nr.',
    what: 'Gelöscht',
    where: 'Tracker',
    when: 'Zeit (UTC)',
    nothing: (identifier) =>
      identifier === null ? 'nichts gespeichert' : `nichts gespeichert (${identifier})`,
    nothingVisible: 'keine sichtbaren Daten',
    everywhere: 'alle',
    download: 'Diesen Eintrag mit seinem Beweis herunterladen',
  },
  checks: {
    title: 'In diesem Browser geprüft',
    entries: (count, { number }) =>
      count === 1
        ? 'Der Eintrag steht im Verzeichnis'
        : `Alle ${number(count)} Einträge stehen im Verzeichnis`,
    root: (size) => `mit ${size} und dem Wurzel-Hash`,
    size: ['Eintrag', 'Einträgen'],
    signed: 'Das Verzeichnis ist signiert',
    by: 'von',
    receipts: (valid, entries, { number }) => {
      if (valid < entries) return `${number(valid)} von ${number(entries)} Belegen liegen vor und sind gültig`
      return valid === 1 ? 'Der Beleg ist gültig' : `Alle ${number(valid)} Belege sind gültig`
    },
    proof: 'als Beweis für alle, die die ID oder die Kennung kennen',
    refused: (number) => `Die Prüfung von Eintrag ${number} ist fehlgeschlagen:`,
    unknown: (number) => `Dieser Browser kann Eintrag ${number} nicht prüfen:`,
  },
  seal: {
    verified: 'Geprüft',
    refused: 'Prüfung fehlgeschlagen',
    unknown: 'Nicht geprüft',
    incomplete: 'Unvollständig',
    inThisBrowser: 'in diesem Browser',
    seeDetails: 'siehe unten',
  },
  verify: {
    title: 'Selbst prüfen',
    how: (organisation) =>
      `Scannen Sie den Code oder öffnen Sie die Adresse, und ziehen Sie die Belege, die Sie von ${organisation} erhalten haben, auf die Seite. Sie zeigt Schritt für Schritt, dass die Belege zu dieser Bescheinigung gehören, dass das Verzeichnis die Einträge enthält und dass es signiert ist. Sie ist auf Englisch, braucht kein Konto und sendet nichts.`,
    compare: (organisation) =>
      `Vergleichen Sie den Prüfschlüssel mit dem, den ${organisation} an anderer Stelle veröffentlicht.`,
    anonymous:
      'Diese Bescheinigung nennt niemanden. Nur die Belege beweisen denen, die die ID oder die Kennung kennen, um wen es geht.',
    address: 'Adresse',
    key: 'Prüfschlüssel',
    digest: 'Prüfsumme',
    permanent: 'Bescheinigung',
    code: 'QR-Code, der die Seite zum Prüfen der Belege mit der Prüfsumme dieser Bescheinigung öffnet',
  },
  scrub: {
    done: (day, everyByte) =>
      `Seit der Löschung kann niemand mehr auf die Daten zugreifen. Die Bereinigung am ${day} hat ${everyByte ? 'jedes Byte davon aus den Dateien der Datenbank entfernt' : 'ihren Platz in den Dateien der Datenbank freigegeben'}.`,
    pending: (everyByte) =>
      `Seit der Löschung kann niemand mehr auf die Daten zugreifen. Die nächste nächtliche Bereinigung ${everyByte ? 'entfernt jedes Byte davon aus den Dateien der Datenbank' : 'gibt ihren Platz in den Dateien der Datenbank frei'}.`,
    late: 'Ältere Daten, die später durch einen Import oder aus einer Sicherung eintreffen, werden abgewiesen.',
  },
}

const locales = { en: 'en-GB', de: 'de-DE' }

const numbersIn = (language: Language) => new Intl.NumberFormat(locales[language])

export function wordsOf(language: Language): Words {
  const numbers = numbersIn(language)
  const utc = { timeZone: 'UTC' }
  const days = new Intl.DateTimeFormat(locales[language], { ...utc, dateStyle: 'long' })
  const moments = new Intl.DateTimeFormat(locales[language], {
    ...utc,
    dateStyle: 'medium',
    timeStyle: 'medium',
  })
  return {
    language,
    texts: language === 'de' ? german : english,
    number: (number) => numbers.format(number),
    counted: (number, [one, many]) => `${numbers.format(number)} ${number === 1 ? one : many}`,
    day: (at) => days.format(Date.parse(at)),
    moment: (at) => moments.format(Date.parse(at)),
  }
}

export function actorIn({ texts }: Words, actor: Actor): string {
  if (actor.kind === 'command-line') return texts.byCommandLine
  return actor.kind === 'key' ? texts.byKey(actor.name) : actor.name
}
