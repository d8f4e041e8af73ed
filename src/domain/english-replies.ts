// The default texts in English. Article numbers are those of the GDPR.

const hello = 'Hello,'

const closing = `Kind regards
{organisation}
{contact}`

const reference = 'Your reference is {reference}. Please mention it if you write to us about this request.'

const found = `- Records about you: {subjects}
- Visits: {sessions}
- Recorded events: {events}`

const elsewhere =
  'If you have used our services with another e-mail address or on another device, please tell us, and we will search again.'

const complaint =
  'You have the right to lodge a complaint with a data protection supervisory authority, for example in the country where you live or work (Article 77 GDPR)'

const refusal = `If you think that we are wrong, please reply to this message. ${complaint}, and the right to go to court (Article 79 GDPR).`

function letter(...paragraphs: readonly string[]): string {
  return [hello, ...paragraphs, closing].join('\n\n')
}

function moreInformation(what: string): string {
  return letter(
    `We received your request on {receivedAt}. You asked us ${what}.`,
    'With the information that we have, we cannot tell which data is yours, or we cannot be sure that the request comes from you. Please help us by replying with one of the following:',
    `- the e-mail address or the customer number that you use with us
- anything else that helps us to find your data, such as when you used which of our websites or apps`,
    'Please do not send us a copy of an identity document. We use what you send us only to handle this request (Article 12(6) GDPR).',
    `We want to answer your request by {dueAt}, so please reply soon. ${reference}`,
  )
}

function extended(what: string): string {
  return letter(
    `We received your request on {receivedAt}. You asked us ${what}. We need more time to answer it, for the following reason:`,
    '{reason}',
    'You will receive our answer by {dueAt} at the latest. If a request is complex, or if there are many requests, the period of one month may be extended by up to two further months (Article 12(3) GDPR).',
    reference,
  )
}

export const englishReplies = {
  'access.received': letter(
    'We received your request on {receivedAt}. You asked us for a copy of the personal data that we hold about you (Article 15 of the General Data Protection Regulation, GDPR).',
    'You will receive our answer by {dueAt}. If we have a question or need more time, we will let you know before then.',
    reference,
  ),
  'access.more-information': moreInformation('for a copy of the personal data that we hold about you'),
  'access.extended': extended('for a copy of the personal data that we hold about you'),
  'access.copy-ready': letter(
    'You asked us on {receivedAt} for a copy of the personal data that we hold about you (Article 15 GDPR). You will find the copy of our analytics records in the attached ZIP file.',
    'Open the file index.html in any browser. It explains in plain words what we recorded, when and where it came from, how long we keep it, and whom you can ask. The JSON files contain the same data in a form that other programs can read.',
    `In these records, we hold:\n\n${found}`,
    `You may ask us to correct or erase data, or to restrict its use, and you may object to its use (Articles 16, 17, 18 and 21 GDPR). ${complaint}.`,
    reference,
  ),
  'access.nothing-held': letter(
    'You asked us on {receivedAt} for a copy of the personal data that we hold about you (Article 15 GDPR).',
    'We searched our analytics records for the details that you gave us, and found no personal data about you.',
    elsewhere,
    `${complaint}.`,
    reference,
  ),
  'access.rejected': letter(
    'We received your request on {receivedAt}. You asked us for a copy of the personal data that we hold about you (Article 15 GDPR). We are not providing a copy, for the following reason:',
    '{reason}',
    refusal,
    reference,
  ),
  'erasure.received': letter(
    'We received your request on {receivedAt}. You asked us to erase the personal data that we hold about you (Article 17 of the General Data Protection Regulation, GDPR).',
    'You will receive our answer by {dueAt}. If we have a question or need more time, we will let you know before then. Erased data cannot be restored; if you would like a copy of it first, please tell us soon.',
    reference,
  ),
  'erasure.more-information': moreInformation('to erase the personal data that we hold about you'),
  'erasure.extended': extended('to erase the personal data that we hold about you'),
  'erasure.erased': letter(
    'You asked us on {receivedAt} to erase the personal data that we hold about you (Article 17 GDPR). On {closedAt}, we completed the erasure of your data in our analytics records. We erased:',
    found,
    'The attached certificate states what was erased and when. You can verify the attached receipts yourself, without an account: {verifyLink}',
    'We keep a record of your request and a proof of the erasure. They do not contain the data that we erased. If you use our services again, new data may be recorded.',
    reference,
  ),
  'erasure.already-deleted': letter(
    'You asked us on {receivedAt} to erase the personal data that we hold about you (Article 17 GDPR).',
    'We searched our analytics records for the details that you gave us, and found data about you. It has since been deleted independently of your request, for example together with other data of the same website or app. There was nothing left to erase.',
    elsewhere,
    reference,
  ),
  'erasure.nothing-held': letter(
    'You asked us on {receivedAt} to erase the personal data that we hold about you (Article 17 GDPR).',
    'We searched our analytics records for the details that you gave us, and found no personal data about you. There was nothing to erase.',
    'The attached certificate states when we searched. You can verify the attached receipts yourself, without an account: {verifyLink}',
    elsewhere,
    reference,
  ),
  'erasure.rejected': letter(
    'We received your request on {receivedAt}. You asked us to erase the personal data that we hold about you (Article 17 GDPR). We are not erasing the data, for the following reason:',
    '{reason}',
    refusal,
    reference,
  ),
} as const
