import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

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

/** Lets a process of the program that gets it in `NODE_OPTIONS` take little time for each password. */
export const hashesCheaply = `--import=data:text/javascript,${encodeURIComponent(
  `import { scryptOnce } from '${new URL('./scrypt-once.ts', import.meta.url)}'; scryptOnce(16)`,
)}`
