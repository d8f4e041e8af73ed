import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { SignedIn } from './types.ts'

const Context = createContext<SignedIn | null>(null)

export const SessionProvider = Context.Provider

/** Who is signed in, on pages for members. */
export function useSession(): SignedIn {
  const session = useContext(Context)
  if (!session) throw new Error('A page for members was shown to nobody.')
  return session
}
