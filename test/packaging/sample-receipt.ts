import { makeReceipt, noteSigner } from '../support/make-receipt.ts'

const signer = noteSigner('lethe.local/acme', Buffer.alloc(32, 1))
const erasure = { trackerId: 'shop', subjectId: 'anna', nonce: Buffer.alloc(32, 2) }

/** A call of the client that needs no service, as text: it gives the receipt's record, of 17 events. */
export const verifySample = `verifyReceipt(${[
  makeReceipt(0, [erasure], { origin: signer.name, signers: [signer] }),
  { verifierKeys: [signer.vkey], trackerId: 'shop', subjectId: 'anna' },
]
  .map((argument) => JSON.stringify(argument))
  .join(', ')})`
