import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { AuthenticationResponse, RegistrationResponse } from '../../src/factors/passkey-ceremony.ts'

/** The values that a browser and an authenticator add to a challenge; a test can replace each. */
interface Circumstances {
  origin?: string
  rpId?: string
  isVerified?: boolean
  crossOrigin?: boolean
  /** The signature counter; by default, one more than before. */
  count?: number
  userHandle?: string
}

interface Options {
  challenge: string
}

/** A software passkey for `origin`, with a signature counter unless `counts` is false. */
export function softwarePasskey(origin: string, { counts = true } = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(16)
  let count = 0
  let handle = ''
  const facts = (given: Circumstances) => ({
    ...{ origin, rpId: new URL(origin).hostname, isVerified: true, crossOrigin: false, userHandle: handle },
    ...{ count: counts ? ++count : 0 },
    ...given,
  })
  const clientData = (
    type: string,
    { challenge }: Options,
    { origin, crossOrigin }: Required<Circumstances>,
  ) => Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }))
  const authenticatorData = ({ rpId, isVerified, count }: Required<Circumstances>, attested = false) => {
    const flags = 0x01 | (isVerified ? 0x04 : 0) | (attested ? 0x40 : 0)
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(count)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), counter])
  }
  return {
    id: id.toString('base64url'),
    register(options: Options & { user: { id: string } }, given: Circumstances = {}): RegistrationResponse {
      handle = options.user.id
      const circumstances = facts({ count: 0, ...given })
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
      const coordinates = [x, y].map((each) => Buffer.from(each, 'base64url'))
      const key = Buffer.concat([
        Buffer.from('a5010203262001', 'hex'),
        ...[
          Buffer.from('215820', 'hex'),
          coordinates[0] ?? id,
          Buffer.from('225820', 'hex'),
          coordinates[1] ?? id,
        ],
      ])
      const data = Buffer.concat([
        ...[authenticatorData(circumstances, true), Buffer.alloc(16), Buffer.from([0, id.length]), id, key],
      ])
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
        ...[Buffer.from([0x58, data.length]), data],
      ])
      return {
        id: id.toString('base64url'),
        response: {
          clientDataJSON: clientData('webauthn.create', options, circumstances).toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    answer(options: Options, given: Circumstances = {}): AuthenticationResponse {
      const circumstances = facts(given)
      const client = clientData('webauthn.get', options, circumstances)
      const data = authenticatorData(circumstances)
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
      return {
        id: id.toString('base64url'),
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
          userHandle: circumstances.userHandle,
        },
      }
    },
  }
}
