import { digestEntries } from '../../../client/src/digest-entries.ts'
import { read } from '../api.ts'
import type { Certificate, RequestCertificate } from '../types.ts'
import { type Checked, verifyCertificate } from '../verify.ts'
import type { Certified, PersonErasure } from './certified.ts'

/** A certificate, or the request that has none yet. */
export interface Shown {
  certified: Certified | null
  request: RequestCertificate['request'] | null
}

/** Fetches entries of the ledger. */
export async function certifyEntries(indexes: readonly number[], signal: AbortSignal): Promise<Shown> {
  const found = indexes.map((index) => read<Certificate>(`/erasures/certificate?index=${index}`, signal))
  return { certified: await certify(await Promise.all(found), null), request: null }
}

/** Fetches all pages of a request's certificate. */
export async function certifyRequest(path: string, signal: AbortSignal): Promise<Shown> {
  const first = await read<RequestCertificate>(path, signal)
  const { request, excluded } = first
  const none = { certified: null, request }
  if (request.closedAt === null) return none
  const { certificates, missing } = await readPages(path, first, signal)
  if (certificates.length === 0) return none
  const erasure = {
    isOfPerson: request.namesIdentifiers,
    missing: { ...missing, left: request.left ?? 0 },
    ...{ excluded, startedBy: request.startedBy, request },
  }
  return { certified: await certify(certificates, erasure), request }
}

interface CertificatePart {
  certificates: Certificate[]
  waiting: number
  gone: number
  stopped: number
  nextPlace: number | null
}

/** All pages of a certificate, one after the other. */
async function readPages(path: string, first: CertificatePart, signal: AbortSignal) {
  const pages = [first]
  for (let after = first.nextPlace; after !== null; ) {
    const page: CertificatePart = await read<CertificatePart>(`${path}?after=${after}`, signal)
    pages.push(page)
    after = page.nextPlace
  }
  const sum = (outcome: 'waiting' | 'gone' | 'stopped') =>
    pages.reduce((total, page) => total + page[outcome], 0)
  const missing = { waiting: sum('waiting'), gone: sum('gone'), stopped: sum('stopped') }
  return { pages, certificates: pages.flatMap((page) => page.certificates), missing }
}

async function certify(
  certificates: readonly Certificate[],
  erasure: PersonErasure | null,
): Promise<Certified> {
  const checked = await Promise.all(certificates.map(check))
  const records = certificates.map(({ record, entry: { index } }) => ({ record, index }))
  // Browsers cannot compute it without TLS.
  const digest = await digestEntries(records).catch(() => null)
  return { checked, digest, erasure }
}

async function check(certificate: Certificate): Promise<Checked> {
  return { certificate, verdict: await verifyCertificate(certificate) }
}
