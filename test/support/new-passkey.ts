import type { Passkey } from '../../src/domain/passkey.ts'

/** A stored passkey that cannot sign. */
export function newPasskey(memberId: string, id: string): Passkey {
  return {
    ...{ id, memberId, name: 'Laptop', publicKey: 'AAAA', signCount: 1, transports: ['internal'] },
    ...{ deviceType: 'singleDevice', isBackedUp: false, createdAt: 1, lastUsedAt: null },
  }
}
