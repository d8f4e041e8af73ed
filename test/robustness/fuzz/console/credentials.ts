/** A cookie that comes with a request; `{{…}}` is what the stage calls so. */
interface Cookie {
  value: string | null
  /** Whether it is a member's sign-in; `null` where a server may take it for one or not. */
  isMembers: boolean | null
}

const session = 'lethe-console={{session}}'

export const cookies: Record<string, Cookie> = {
  'a member’s': { value: session, isMembers: true },
  none: { value: null, isMembers: false },
  empty: { value: 'lethe-console=', isMembers: false },
  'made up': { value: 'lethe-console=nonsense', isMembers: false },
  'signed out': { value: 'lethe-console={{ended}}', isMembers: false },
  'a week old': { value: 'lethe-console={{old}}', isMembers: false },
  'hours idle': { value: 'lethe-console={{idle}}', isMembers: false },
  'a link’s token': { value: 'lethe-console={{link}}', isMembers: false },
  'an API key': { value: 'lethe-console={{keyString}}', isMembers: false },
  'a name in capitals': { value: 'Lethe-Console={{session}}', isMembers: false },
  'one character more': { value: `${session}x`, isMembers: false },
  'another’s name': { value: `x${session}`, isMembers: false },
  'a pattern': { value: 'lethe-console=%', isMembers: false },
  endless: { value: `lethe-console=${'x'.repeat(9_000)}`, isMembers: false },
  'no text': { value: 'lethe-console=\u00ff\u0080', isMembers: false },
  'a name for TLS': { value: '__Host-lethe-console={{session}}', isMembers: null },
  quoted: { value: 'lethe-console="{{session}}"', isMembers: null },
  'behind an empty one': { value: `lethe-console=; ${session}`, isMembers: null },
  'in bad company': { value: `;;=; =x; a; ${session};;`, isMembers: null },
}

/** Where a change says it comes from. */
interface Origin {
  lines: readonly (readonly [name: string, value: string])[]
  /** Whether that is a page of ours; `null` where only no browser would say so. */
  isOurs: boolean | null
}

const ours = ['Origin', 'http://test'] as const

export const origins: Record<string, Origin> = {
  ours: { lines: [ours], isOurs: true },
  'ours, and it says so': { lines: [ours, ['Sec-Fetch-Site', 'same-origin']], isOurs: true },
  none: { lines: [], isOurs: false },
  'none, and it says ours': { lines: [['Sec-Fetch-Site', 'same-origin']], isOurs: false },
  'a referrer': { lines: [['Referer', 'http://test/console']], isOurs: false },
  hidden: { lines: [['Origin', 'null']], isOurs: false },
  empty: { lines: [['Origin', '']], isOurs: false },
  another: { lines: [['Origin', 'https://evil.example']], isOurs: false },
  'another that begins alike': { lines: [['Origin', 'http://test.evil.example']], isOurs: false },
  'another that ends alike': { lines: [['Origin', 'http://evil-test']], isOurs: false },
  'another behind a name': { lines: [['Origin', 'http://test@evil.example']], isOurs: false },
  'another port': { lines: [['Origin', 'http://test:8081']], isOurs: false },
  'no scheme': { lines: [['Origin', 'test']], isOurs: false },
  'no origin': { lines: [['Origin', '\u00ff://\u0080']], isOurs: false },
  'two of them': { lines: [ours, ['Origin', 'https://evil.example']], isOurs: false },
  'another site': { lines: [ours, ['Sec-Fetch-Site', 'cross-site']], isOurs: false },
  'a site beside': { lines: [ours, ['Sec-Fetch-Site', 'same-site']], isOurs: false },
  'typed in': { lines: [ours, ['Sec-Fetch-Site', 'none']], isOurs: false },
  'two sites': {
    lines: [ours, ['Sec-Fetch-Site', 'same-origin'], ['Sec-Fetch-Site', 'cross-site']],
    isOurs: false,
  },
  'a host that was forwarded': { lines: [ours, ['X-Forwarded-Host', 'evil.example']], isOurs: false },
  'in capitals': { lines: [['Origin', 'HTTP://TEST']], isOurs: null },
  'another scheme': { lines: [['Origin', 'https://test']], isOurs: null },
  'with a path': { lines: [['Origin', 'http://test/console']], isOurs: null },
  'ours, twice': { lines: [ours, ours], isOurs: null },
  'through TLS': { lines: [ours, ['X-Forwarded-Proto', 'https']], isOurs: null },
}
