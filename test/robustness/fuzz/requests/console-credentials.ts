import { allows, isRole, type Role } from '../../../../src/domain/member.ts'
import type { Operation } from './operations.ts'
import type { Credential, Lines } from './surface.ts'

/** Header lines that are a member's sign-in, or not; `null` if a server may decide either way. */
function cookie(value: string | null, isMembers: boolean | null): Credential {
  return {
    lines: value === null ? [] : [['Cookie', value]],
    refusal: ({ access }) => (isRole(access) ? unless(isMembers, 'unauthorized') : null),
  }
}

/** The sign-in of a member with a role, which may not be sufficient. */
function roleCookie(role: Role): Credential {
  return {
    lines: [['Cookie', `lethe-console={{${role}}}`]],
    refusal: ({ access }) => (isRole(access) && !allows(role, access) ? 'forbidden' : null),
  }
}

function unless(isGood: boolean | null, refusal: 'unauthorized' | 'forbidden') {
  return isGood === null ? 'unknown' : isGood ? null : refusal
}

const session = 'lethe-console={{session}}'

export const cookies: Record<string, Credential> = {
  'an admin’s': cookie(session, true),
  'a desk member’s': roleCookie('desk'),
  'a viewer’s': roleCookie('viewer'),
  none: cookie(null, false),
  empty: cookie('lethe-console=', false),
  'made up': cookie('lethe-console=nonsense', false),
  'signed out': cookie('lethe-console={{ended}}', false),
  'a week old': cookie('lethe-console={{old}}', false),
  'hours idle': cookie('lethe-console={{idle}}', false),
  'a link’s token': cookie('lethe-console={{link}}', false),
  'an API key': cookie('lethe-console={{keyString}}', false),
  'a name in capitals': cookie('Lethe-Console={{session}}', false),
  'one character more': cookie(`${session}x`, false),
  'another’s name': cookie(`x${session}`, false),
  'a pattern': cookie('lethe-console=%', false),
  endless: cookie(`lethe-console=${'x'.repeat(9_000)}`, false),
  'no text': cookie('lethe-console=\u00ff\u0080', false),
  'a name for TLS': cookie('__Host-lethe-console={{session}}', null),
  quoted: cookie('lethe-console="{{session}}"', null),
  'behind an empty one': cookie(`lethe-console=; ${session}`, null),
  'among malformed cookies': cookie(`;;=; =x; a; ${session};;`, null),
}

/** Header lines that show that a change comes from our pages, or not; `null` for what no browser sends. */
function origin(isOurs: boolean | null, ...lines: Lines): Credential {
  const refusal = ({ method }: Operation) => (method === 'GET' ? null : unless(isOurs, 'forbidden'))
  return { lines, refusal }
}

const ours = ['Origin', 'http://test'] as const

export const origins: Record<string, Credential> = {
  ours: origin(true, ours),
  'ours, and it says so': origin(true, ours, ['Sec-Fetch-Site', 'same-origin']),
  none: origin(false),
  'none, and it says ours': origin(false, ['Sec-Fetch-Site', 'same-origin']),
  'a referrer': origin(false, ['Referer', 'http://test/console']),
  hidden: origin(false, ['Origin', 'null']),
  empty: origin(false, ['Origin', '']),
  another: origin(false, ['Origin', 'https://evil.example']),
  'another that begins alike': origin(false, ['Origin', 'http://test.evil.example']),
  'another that ends alike': origin(false, ['Origin', 'http://evil-test']),
  'another behind a name': origin(false, ['Origin', 'http://test@evil.example']),
  'another port': origin(false, ['Origin', 'http://test:8081']),
  'no scheme': origin(false, ['Origin', 'test']),
  'no origin': origin(false, ['Origin', '\u00ff://\u0080']),
  'two of them': origin(false, ours, ['Origin', 'https://evil.example']),
  'another site': origin(false, ours, ['Sec-Fetch-Site', 'cross-site']),
  'a sibling site': origin(false, ours, ['Sec-Fetch-Site', 'same-site']),
  'typed in': origin(false, ours, ['Sec-Fetch-Site', 'none']),
  'two sites': origin(false, ours, ['Sec-Fetch-Site', 'same-origin'], ['Sec-Fetch-Site', 'cross-site']),
  'a host that was forwarded': origin(false, ours, ['X-Forwarded-Host', 'evil.example']),
  'in capitals': origin(null, ['Origin', 'HTTP://TEST']),
  'another scheme': origin(null, ['Origin', 'https://test']),
  'with a path': origin(null, ['Origin', 'http://test/console']),
  'ours, twice': origin(null, ours, ours),
  'through TLS': origin(null, ours, ['X-Forwarded-Proto', 'https']),
}
