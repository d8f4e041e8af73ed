import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import { read } from './api.ts'
import { cache } from './resource.ts'
import { navigate } from './router.tsx'
import { setSearchText } from './search.ts'
import type { SignedIn } from './types.ts'

const Context = createContext<SignedIn | null>(null)

export const SessionProvider = Context.Provider

/** Who is signed in, on pages for members. */
export function useSession(): SignedIn {
  const session = useContext(Context)
  if (!session) throw new Error('useSession was called outside SessionProvider.')
  return session
}

type Change = 'signed-in' | 'signed-out'

/** The tabs of a browser have one sign-in between them. */
const tabs = new BroadcastChannel('lethe-session')

/** Tells the other tabs what became of it. */
export function announce(change: Change): void {
  tabs.postMessage(change)
}

/** Goes on to a page for members after signing in, maybe as somebody else. */
export function enter(to: string): void {
  announce('signed-in')
  cache.clear()
  navigate(to, { replace: true })
}

/** Leaves the pages for members, in all tabs. Nothing stays of what was seen there, or of whom somebody looked for. */
export function leave(): void {
  announce('signed-out')
  navigate('/console/sign-in')
  cache.clear()
  setSearchText('')
}

/** Follows what other tabs do with the sign-in. The page is loaded anew, so that nothing of it stays in memory. */
export function useOtherTabs(memberId: string | undefined): void {
  useEffect(() => {
    if (memberId === undefined) return
    async function follow({ data }: MessageEvent<Change>): Promise<void> {
      if (data === 'signed-out') return location.replace('/console/sign-in')
      const now = await read<SignedIn>('/session')
      if (now.member.id !== memberId) location.replace('/console/trackers')
    }
    tabs.addEventListener('message', follow)
    return () => tabs.removeEventListener('message', follow)
  }, [memberId])
}
