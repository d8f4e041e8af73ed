import { makeReceipt, noteSigner } from '../support/make-receipt.ts'

const signer = noteSigner('lethe.local/acme', Buffer.alloc(32, 1))
const erasure = { trackerId: 'shop', subjectId: 'anna', nonce: Buffer.alloc(32, 2) }

/** The text of a client call that needs no service. It returns the record of the receipt, with 17 events. */
export const verifySample = `verifyReceipt(${[
  makeReceipt(0, [erasure], { origin: signer.name, signers: [signer] }),
  { verifierKeys: [signer.vkey], trackerId: 'shop', subjectId: 'anna' },
]
  .map((argument) => JSON.stringify(argument))
  .join(', ')})`
