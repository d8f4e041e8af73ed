import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import { read } from './api.ts'
import { cache } from './resource.ts'
import { may, type Role } from './roles.ts'
import { navigate } from './router.tsx'
import { setSearchText } from './search.ts'
import type { SignedIn } from './types.ts'

const Context = createContext<SignedIn | null>(null)

export const SessionProvider = Context.Provider

/** The signed-in member. */
export function useSession(): SignedIn {
  const session = useContext(Context)
  if (!session) throw new Error('useSession was called outside SessionProvider.')
  return session
}

/** Whether the member may do what needs a role. The service decides; pages only do not offer the rest. */
export function useMay(needed: Role): boolean {
  return may(useSession().member.role, needed)
}

interface ForProps {
  least: Role
  children: ComponentChildren
  /** What other members see. */
  otherwise?: ComponentChildren
}

/** Shown to members with at least this role. */
export function For({ least, children, otherwise = null }: ForProps) {
  return <>{useMay(least) ? children : otherwise}</>
}

type Change = 'signed-in' | 'signed-out'

/** All tabs of a browser share one session. */
const tabs = new BroadcastChannel('lethe-session')

/** Tells the other tabs about a sign-in or sign-out. */
export function announce(change: Change): void {
  tabs.postMessage(change)
}

/** Opens a page after signing in, possibly as another member. */
export function completeSignIn(to: string): void {
  announce('signed-in')
  cache.clear()
  navigate(to, { replace: true })
}

/** Shows the sign-in page in all tabs, and clears all data from memory. */
export function completeSignOut(): void {
  announce('signed-out')
  navigate('/console/sign-in', { force: true })
  cache.clear()
  setSearchText('')
}

/** Calls `follow` when somebody has signed in in another tab. Returns a function that stops it. */
export function onSignedInElsewhere(follow: () => void): () => void {
  const listen = ({ data }: MessageEvent<Change>) => {
    if (data === 'signed-in') follow()
  }
  tabs.addEventListener('message', listen)
  return () => tabs.removeEventListener('message', listen)
}

/**
 * Whether this member is still the one who is signed in. Otherwise leaves the page: another member must neither
 * see it nor send its requests.
 */
export async function isStillMember(memberId: string): Promise<boolean> {
  const now = await read<SignedIn>('/session')
  if (now.member.id === memberId) return true
  location.replace('/console')
  return false
}

/** Follows sign-ins and sign-outs of other tabs with a page load, which clears all data from memory. */
export function useOtherTabs(memberId: string | undefined): void {
  useEffect(() => {
    if (memberId === undefined) return
    const follow = ({ data }: MessageEvent<Change>) => {
      if (data === 'signed-out') location.replace('/console/sign-in')
      else void isStillMember(memberId).catch(() => {})
    }
    tabs.addEventListener('message', follow)
    return () => tabs.removeEventListener('message', follow)
  }, [memberId])
}
