import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

type Derived = (error: Error | null, key: Buffer) => void

/**
 * Makes this process hash each password with each salt only once, for tests that use the same password often.
 * If no other process reads the hashes, `cost` can be low. Returns a function that undoes this.
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

/** For `NODE_OPTIONS`: lets a process of the program hash passwords at a low cost. */
export const cheapHashing = `--import=data:text/javascript,${encodeURIComponent(
  `import { scryptOnce } from '${new URL('./scrypt-once.ts', import.meta.url)}'; scryptOnce(16)`,
)}`
