// The default texts in German. Article numbers are those of the GDPR, in German DSGVO.

const hello = 'Guten Tag,'

const closing = `Mit freundlichen Grüßen
{organisation}
{contact}`

const reference =
  'Ihr Aktenzeichen lautet {reference}. Bitte geben Sie es an, wenn Sie uns zu dieser Anfrage schreiben.'

const found = `- Datensätze über Sie: {subjects}
- Besuche: {sessions}
- Aufgezeichnete Ereignisse: {events}`

const elsewhere =
  'Falls Sie unsere Angebote mit einer anderen E-Mail-Adresse oder auf einem anderen Gerät genutzt haben, teilen Sie uns das bitte mit. Wir suchen dann noch einmal.'

const complaint =
  'Sie haben das Recht, sich bei einer Datenschutz-Aufsichtsbehörde zu beschweren, zum Beispiel an Ihrem Wohnort oder Arbeitsplatz (Art. 77 DSGVO)'

const refusal = `Wenn Sie damit nicht einverstanden sind, antworten Sie bitte auf diese Nachricht. ${complaint}, und Sie können vor Gericht klagen (Art. 79 DSGVO).`

function letter(...paragraphs: readonly string[]): string {
  return [hello, ...paragraphs, closing].join('\n\n')
}

function moreInformation(what: string): string {
  return letter(
    `am {receivedAt} haben wir Ihre Anfrage erhalten. Sie bitten uns ${what}.`,
    'Mit den vorliegenden Angaben können wir nicht erkennen, welche Daten zu Ihnen gehören, oder nicht sicher sein, dass die Anfrage von Ihnen stammt. Bitte helfen Sie uns und antworten Sie mit einer der folgenden Angaben:',
    `- die E-Mail-Adresse oder Kundennummer, die Sie bei uns verwenden
- andere Angaben, mit denen wir Ihre Daten finden können, etwa wann Sie welche unserer Websites oder Apps genutzt haben`,
    'Bitte senden Sie uns keine Kopie eines Ausweises. Wir verwenden Ihre Angaben nur, um diese Anfrage zu bearbeiten (Art. 12 Abs. 6 DSGVO).',
    `Wir möchten Ihre Anfrage bis zum {dueAt} beantworten und bitten Sie daher um eine baldige Antwort. ${reference}`,
  )
}

function extended(what: string): string {
  return letter(
    `am {receivedAt} haben wir Ihre Anfrage erhalten. Sie bitten uns ${what}. Für die Antwort brauchen wir mehr Zeit. Der Grund dafür ist:`,
    '{reason}',
    'Sie erhalten unsere Antwort spätestens am {dueAt}. Bei komplexen oder zahlreichen Anträgen darf die Frist von einem Monat um bis zu zwei weitere Monate verlängert werden (Art. 12 Abs. 3 DSGVO).',
    reference,
  )
}

export const germanReplies = {
  'access.received': letter(
    'am {receivedAt} haben wir Ihre Anfrage erhalten. Sie bitten um eine Kopie der personenbezogenen Daten, die wir über Sie gespeichert haben (Art. 15 Datenschutz-Grundverordnung, DSGVO).',
    'Sie erhalten unsere Antwort bis zum {dueAt}. Falls wir eine Rückfrage haben oder mehr Zeit brauchen, melden wir uns vorher bei Ihnen.',
    reference,
  ),
  'access.more-information': moreInformation(
    'um eine Kopie der personenbezogenen Daten, die wir über Sie gespeichert haben',
  ),
  'access.extended': extended(
    'um eine Kopie der personenbezogenen Daten, die wir über Sie gespeichert haben',
  ),
  'access.copy-ready': letter(
    'am {receivedAt} haben Sie uns um eine Kopie der personenbezogenen Daten gebeten, die wir über Sie gespeichert haben (Art. 15 DSGVO). Die Kopie unserer Nutzungsdaten finden Sie in der beigefügten ZIP-Datei.',
    'Öffnen Sie die Datei index.html in einem beliebigen Browser. Sie erklärt in einfachen Worten, was wir aufgezeichnet haben, wann und woher die Daten stammen, wie lange wir sie aufbewahren und an wen Sie sich wenden können. Die JSON-Dateien enthalten dieselben Daten in einer Form, die andere Programme lesen können.',
    `Diese Nutzungsdaten umfassen:\n\n${found}`,
    `Sie können verlangen, dass wir Daten berichtigen, löschen oder nur eingeschränkt verarbeiten, und Sie können der Verarbeitung widersprechen (Art. 16, 17, 18 und 21 DSGVO). ${complaint}.`,
    reference,
  ),
  'access.nothing-held': letter(
    'am {receivedAt} haben Sie uns um eine Kopie der personenbezogenen Daten gebeten, die wir über Sie gespeichert haben (Art. 15 DSGVO).',
    'Wir haben unsere Nutzungsdaten nach Ihren Angaben durchsucht und keine personenbezogenen Daten über Sie gefunden.',
    elsewhere,
    `${complaint}.`,
    reference,
  ),
  'access.rejected': letter(
    'am {receivedAt} haben wir Ihre Anfrage erhalten. Sie bitten um eine Kopie der personenbezogenen Daten, die wir über Sie gespeichert haben (Art. 15 DSGVO). Wir stellen Ihnen keine Kopie zur Verfügung. Der Grund dafür ist:',
    '{reason}',
    refusal,
    reference,
  ),
  'erasure.received': letter(
    'am {receivedAt} haben wir Ihre Anfrage erhalten. Sie bitten uns, die personenbezogenen Daten zu löschen, die wir über Sie gespeichert haben (Art. 17 Datenschutz-Grundverordnung, DSGVO).',
    'Sie erhalten unsere Antwort bis zum {dueAt}. Falls wir eine Rückfrage haben oder mehr Zeit brauchen, melden wir uns vorher bei Ihnen. Gelöschte Daten können nicht wiederhergestellt werden. Wenn Sie vorher eine Kopie wünschen, teilen Sie uns das bitte bald mit.',
    reference,
  ),
  'erasure.more-information': moreInformation(
    'um die Löschung der personenbezogenen Daten, die wir über Sie gespeichert haben',
  ),
  'erasure.extended': extended(
    'um die Löschung der personenbezogenen Daten, die wir über Sie gespeichert haben',
  ),
  'erasure.erased': letter(
    'am {receivedAt} haben Sie uns gebeten, die personenbezogenen Daten zu löschen, die wir über Sie gespeichert haben (Art. 17 DSGVO). Am {closedAt} haben wir die Löschung Ihrer Daten in unseren Nutzungsdaten abgeschlossen. Gelöscht wurden:',
    found,
    'Die beigefügte Bescheinigung nennt, was wann gelöscht wurde. Die beigefügten Belege können Sie ohne Konto selbst prüfen: {verifyLink}',
    'Wir bewahren einen Vermerk über Ihre Anfrage und einen Nachweis der Löschung auf. Beide enthalten die gelöschten Daten nicht. Wenn Sie unsere Angebote erneut nutzen, können neue Daten aufgezeichnet werden.',
    reference,
  ),
  'erasure.already-deleted': letter(
    'am {receivedAt} haben Sie uns gebeten, die personenbezogenen Daten zu löschen, die wir über Sie gespeichert haben (Art. 17 DSGVO).',
    'Wir haben unsere Nutzungsdaten nach Ihren Angaben durchsucht und Daten über Sie gefunden. Sie sind inzwischen unabhängig von Ihrem Antrag gelöscht worden, zum Beispiel zusammen mit anderen Daten derselben Website oder App. Es gab daher nichts mehr zu löschen.',
    elsewhere,
    reference,
  ),
  'erasure.nothing-held': letter(
    'am {receivedAt} haben Sie uns gebeten, die personenbezogenen Daten zu löschen, die wir über Sie gespeichert haben (Art. 17 DSGVO).',
    'Wir haben unsere Nutzungsdaten nach Ihren Angaben durchsucht und keine personenbezogenen Daten über Sie gefunden. Es gab daher nichts zu löschen.',
    'Die beigefügte Bescheinigung nennt, wann wir gesucht haben. Die beigefügten Belege können Sie ohne Konto selbst prüfen: {verifyLink}',
    elsewhere,
    reference,
  ),
  'erasure.rejected': letter(
    'am {receivedAt} haben wir Ihre Anfrage erhalten. Sie bitten uns, die personenbezogenen Daten zu löschen, die wir über Sie gespeichert haben (Art. 17 DSGVO). Wir löschen die Daten nicht. Der Grund dafür ist:',
    '{reason}',
    refusal,
    reference,
  ),
} as const
