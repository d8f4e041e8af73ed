/** What became of the requests on one connection. */
export interface Verdict {
  /** How many were taken, before the first that was refused. */
  taken: number
  statuses: readonly string[]
  /** What our refusals say. */
  messages: readonly string[]
}

type Applies = (request: string, lethe: Verdict, nginx: Verdict) => boolean

const says =
  (words: RegExp): Applies =>
  (_request, { messages }) =>
    messages.some((message) => words.test(message))

const soundHost = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i

/** The hosts that a request names. What HEAD is refused for, its answer does not say. */
function hostsIn(request: string): string[] {
  return Array.from(request.matchAll(/^host:[ \t]*(.*?)[ \t]*\r?$/gim), ([, host = '']) => host)
}

/** Why we refuse what nginx takes: it is lenient where HTTP allows that, and we have nobody who needs it. */
const stricter: Record<string, Applies> = {
  'a line ends in LF or CR alone': (request) => /(?<!\r)\n|\r(?!\n)/.test(request),
  'a version of HTTP other than 1.0 and 1.1': (request) => /HTTP\/(?!1\.[01]\r)\S*/.test(request),
  'a method that HTTP does not know': says(/method is not a valid HTTP method/),
  'a Host that is none, or several': (request, ...verdicts) =>
    says(/Host header/)(request, ...verdicts) || hostsIn(request).some((host) => !soundHost.test(host)),
  'an expectation other than 100-continue': (request) => /^expect:(?![ \t]*100-continue)/im.test(request),
  'a target that is neither a path nor an address of HTTP': (request) =>
    /(?:^|\n)[A-Z]+ (?!https?:)[^/*\s]\S* HTTP/.test(request),
  'a transfer coding other than chunked': says(/Transfer-Encoding/),
  'a connection that asks for another protocol ends behind the answer': (request) =>
    /^upgrade:/im.test(request),
  'a fragment in the target, which would cut an id short': (request) => /(?:^|\n)\S+ \S*#/.test(request),
  'the name of a header is no token': (request) =>
    /^(?![A-Z]+ )[^:\r\n]*[^\w!#$%&'*+.^`|~:\r\n-][^:\r\n]*:|^:/m.test(request),
  'a line without a colon among the headers': (request) =>
    /[A-Z]+ \S+ HTTP[^\r\n]*(?:\r\n[^\r\n]+)*\r\n[^:\r\n]+(?:\r\n|$)/.test(request),
  'a control character or a byte beyond ASCII': (request) => /[^\P{Cc}\t\r\n]|\P{ASCII}/u.test(request),
  'spaces around the parts of the request line': (request) =>
    /^(?:\r\n)*(?: |\S+(?: {2,}|\t)|\S+ \S+(?: {2,}|\t)|\S+ \S+ \S+[ \t])/.test(request),
  'a chunk that is not as long as it says, or does not end in CRLF': (request, { statuses, taken }) =>
    /^transfer-encoding:.*chunked/im.test(request) && statuses[taken] === '400',
}

/** Why we answer what nginx refuses. */
const looser: Record<string, Applies> = {
  'a path is an id to us, whatever is in it, and without a key nobody learns what is wrong with it': (
    request,
    { statuses },
    { taken },
  ) =>
    /(?:^|\n)\S+ +(?:\*|\S*%(?:00|(?![0-9a-f]{2}))|\S*\/\.\.|\w+:\S*@|\w+:\/\/ )/i.test(request) &&
    /^(?:302|401)/.test(statuses[taken] ?? ''),
  'refused for want of a key before its body is read': (request, { statuses, taken }) =>
    statuses[taken - 1] === '401' && /^(?:transfer-encoding|content-length)/im.test(request),
  'an empty Host is right where an address has none': (request) => /^host:[ \t]*$/im.test(request),
  'a tab around a value is as good as a space': (request) => /^[\w-]+:(?: *\t|.*\t *\r?$)/m.test(request),
  'whom an absolute target names is nothing to us': (request) => /(?:^|\n)\S+ \w+:\/\//.test(request),
  'a Host with an empty label is a name to us': (request) => /^host:.*\.\./im.test(request),
  'nginx takes no TRACE': (request) => /(?:^|\n)TRACE /.test(request),
}

/** Why both may judge a request differently, or that they do not; `null` when neither is so. */
export function reasonFor(request: string, lethe: Verdict, nginx: Verdict): string | null {
  if (lethe.taken === nginx.taken) return lethe.taken === 0 ? 'refused by both' : 'taken by both'
  const [who, reasons] =
    lethe.taken < nginx.taken ? (['stricter', stricter] as const) : (['looser', looser] as const)
  const found = Object.entries(reasons).find(([, applies]) => applies(request, lethe, nginx))
  return found ? `${who}: ${found[0]}` : null
}
