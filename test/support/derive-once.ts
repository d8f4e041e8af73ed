import crypto, { type webcrypto } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const { subtle } = globalThis.crypto

/**
 * A journal derives its digest slowly, on purpose; of the same list and salt always the same. From now on this process derives it once
 * for each, by the same function, for tests that open their journals again and again. Where no other process reads them, few
 * `iterations` will do.
 */
export function deriveOnce(iterations?: number): void {
  const importKey = subtle.importKey.bind(subtle)
  const deriveBits = subtle.deriveBits.bind(subtle)
  const lists = new WeakMap<CryptoKey, string>()
  const derived = new Map<string, Promise<ArrayBuffer>>()
  Object.assign(subtle, {
    async importKey(
      format: 'raw',
      data: Uint8Array<ArrayBuffer>,
      name: string,
      ...rest: [boolean, 'deriveBits'[]]
    ) {
      const key = await importKey(format, data, name, ...rest)
      lists.set(key, Buffer.from(data).toString('hex'))
      return key
    },
    deriveBits(parameters: webcrypto.Pbkdf2Params & { salt: Uint8Array }, key: CryptoKey, length: number) {
      const salt = Buffer.from(parameters.salt).toString('hex')
      const input = JSON.stringify([{ ...parameters, salt }, lists.get(key), length])
      const quick = { ...parameters, iterations: iterations ?? parameters.iterations }
      const bits = derived.get(input) ?? deriveBits(quick, key, length)
      derived.set(input, bits)
      return bits
    },
  })
}

type Derived = (error: Error | null, key: Buffer) => void

/**
 * To hash a password takes long, on purpose; with the same salt it gives always the same. From now on this process does it once for
 * each, by the same function, for tests that try the same password again and again. Where no other process reads the hashes, a low `cost`
 * will do. What it hands back puts an end to it.
 */
export function scryptOnce(cost?: number): () => void {
  const { scrypt } = crypto
  const derived = new Map<string, Promise<Buffer>>()
  Object.assign(crypto, {
    scrypt(password: string, salt: string, length: number, options: crypto.ScryptOptions, done: Derived) {
      const input = JSON.stringify([password, salt, length, options])
      const deriving =
        derived.get(input) ??
        new Promise<Buffer>((resolve, reject) => {
          const quick = { ...options, N: cost ?? options.N }
          scrypt(password, salt, length, quick, (error, key) => (error ? reject(error) : resolve(key)))
        })
      derived.set(input, deriving)
      deriving.then(
        (key) => done(null, key),
        (error) => done(error, Buffer.alloc(0)),
      )
    },
  })
  syncBuiltinESMExports()
  return () => {
    Object.assign(crypto, { scrypt })
    syncBuiltinESMExports()
  }
}
