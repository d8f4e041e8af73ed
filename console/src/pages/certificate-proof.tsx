import { QrCode } from '../components/qr-code.tsx'
import type { Words } from './certificate-texts.ts'
import type { Certified } from './certified.ts'

interface CertificateProofProps {
  certified: Certified
  organisation: string
  words: Words
  address: string
}

/** How anyone can check the certificate, and what they need for it. */
export function CertificateProof({ certified, organisation, words, address }: CertificateProofProps) {
  const { checked, digest } = certified
  const { verify } = words.texts
  const keys = checked[0]?.certificate.verifierKeys ?? []
  const link = digest === null ? null : verifyLink(digest, keys[0])
  const facts = [
    [verify.address, [`${location.origin}/verify`]],
    [verify.digest, digest === null ? [] : [digest]],
    [verify.key, keys],
    [verify.permanent, [location.origin + address]],
  ] as const
  return (
    <section class="sheet-proof">
      <div>
        <h3>{verify.title}</h3>
        <p>
          {verify.how(organisation)} {verify.compare(organisation)}
        </p>
        <p>{verify.anonymous}</p>
        <Scrub checked={checked} words={words} />
      </div>
      {link !== null && (
        <a class="sheet-code" href={link} target="_blank" rel="noreferrer">
          <QrCode text={link} label={verify.code} />
        </a>
      )}
      <dl>
        {facts.map(
          ([title, values]) =>
            values.length > 0 && (
              <div key={title}>
                <dt>{title}</dt>
                {values.map((value) => (
                  <dd key={value}>
                    <code>{value}</code>
                  </dd>
                ))}
              </div>
            ),
        )}
      </dl>
    </section>
  )
}

/** Whether the deleted bytes are gone from the store's files. */
function Scrub({ checked, words: { texts, day } }: Pick<Certified, 'checked'> & { words: Words }) {
  const [first] = checked
  const erasedAt = checked
    .flatMap(({ certificate: { entry } }) => (entry.kind === 'erasure' ? [entry.erasedAt] : []))
    .toSorted()
    .at(-1)
  if (!first || erasedAt === undefined) return null
  const { lastAt, reachesEveryByte } = first.certificate.scrub
  const { scrub } = texts
  return (
    <p>
      {lastAt > erasedAt ? scrub.done(day(lastAt), reachesEveryByte) : scrub.pending(reachesEveryByte)}{' '}
      {scrub.late}
    </p>
  )
}

/** A link to the page that verifies receipts. Browsers do not send what follows the `#`. */
function verifyLink(digest: string, verifierKey: string | undefined): string {
  // A percent sign of an escaped organisation ID is part of the key's name.
  const key = verifierKey === undefined ? '' : `&key=${verifierKey.replaceAll('%', '%25')}`
  return `${location.origin}/verify#sha256=${digest}${key}`
}
