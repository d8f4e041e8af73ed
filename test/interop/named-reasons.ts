/** The result of the requests on one connection. */
export interface Verdict {
  /** The number of requests that were accepted before the first refused one. */
  taken: number
  statuses: readonly string[]
  /** The messages of Lethe’s refusals. */
  messages: readonly string[]
}

type Applies = (request: string, lethe: Verdict, nginx: Verdict) => boolean

const says =
  (words: RegExp): Applies =>
  (_request, { messages }) =>
    messages.some((message) => words.test(message))

const soundHost = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i

/** The hosts of a request. A response to HEAD does not state the reason of a refusal. */
function hostsIn(request: string): string[] {
  return Array.from(request.matchAll(/^host:[ \t]*(.*?)[ \t]*\r?$/gim), ([, host = '']) => host)
}

/** Why Lethe refuses requests that nginx accepts: nginx is lenient where HTTP allows it. */
const stricter: Record<string, Applies> = {
  'a line that ends in a single LF or CR': (request) => /(?<!\r)\n|\r(?!\n)/.test(request),
  'an HTTP version other than 1.0 and 1.1': (request) => /HTTP\/(?!1\.[01]\r)\S*/.test(request),
  'an unknown method': says(/method is not a valid HTTP method/),
  'an invalid or repeated Host': (request, ...verdicts) =>
    says(/Host header/)(request, ...verdicts) || hostsIn(request).some((host) => !soundHost.test(host)),
  'an expectation other than 100-continue': (request) => /^expect:(?![ \t]*100-continue)/im.test(request),
  'a target that is neither a path nor an HTTP URL': (request) =>
    /(?:^|\n)[A-Z]+ (?!https?:)[^/*\s]\S* HTTP/.test(request),
  'a transfer coding other than chunked': says(/Transfer-Encoding/),
  'a request to upgrade closes the connection after the response': (request) => /^upgrade:/im.test(request),
  'a fragment in the target, which would truncate an ID': (request) => /(?:^|\n)\S+ \S*#/.test(request),
  'an invalid header name': (request) =>
    /^(?![A-Z]+ )[^:\r\n]*[^\w!#$%&'*+.^`|~:\r\n-][^:\r\n]*:|^:/m.test(request),
  'a header line without a colon': (request) =>
    /[A-Z]+ \S+ HTTP[^\r\n]*(?:\r\n[^\r\n]+)*\r\n[^:\r\n]+(?:\r\n|$)/.test(request),
  'a control character or a byte beyond ASCII': (request) => /[^\P{Cc}\t\r\n]|\P{ASCII}/u.test(request),
  'spaces around the parts of the request line': (request) =>
    /^(?:\r\n)*(?: |\S+(?: {2,}|\t)|\S+ \S+(?: {2,}|\t)|\S+ \S+ \S+[ \t])/.test(request),
  'a chunk of another length than stated, or without CRLF at its end': (request, { statuses, taken }) =>
    /^transfer-encoding:.*chunked/im.test(request) && statuses[taken] === '400',
}

/** Why Lethe answers requests that nginx refuses. */
const looser: Record<string, Applies> = {
  'a path may be an ID with any characters, and is not validated before the key': (
    request,
    { statuses },
    { taken },
  ) =>
    /(?:^|\n)\S+ +(?:\*|\S*%(?:00|(?![0-9a-f]{2}))|\S*\/\.\.|\w+:\S*@|\w+:\/\/ )/i.test(request) &&
    /^(?:302|401)/.test(statuses[taken] ?? ''),
  'refused without a key before the body is read': (request, { statuses, taken }) =>
    statuses[taken - 1] === '401' && /^(?:transfer-encoding|content-length)/im.test(request),
  'an empty Host is valid for a target without a host': (request) => /^host:[ \t]*$/im.test(request),
  'a tab around a value is equivalent to a space': (request) => /^[\w-]+:(?: *\t|.*\t *\r?$)/m.test(request),
  'the host of an absolute target is ignored': (request) => /(?:^|\n)\S+ \w+:\/\//.test(request),
  'a Host may have an empty label': (request) => /^host:.*\.\./im.test(request),
  'nginx rejects TRACE': (request) => /(?:^|\n)TRACE /.test(request),
}

/** The reason for different results, or that they do not differ; `null` if there is no reason. */
export function reasonFor(request: string, lethe: Verdict, nginx: Verdict): string | null {
  if (lethe.taken === nginx.taken) return lethe.taken === 0 ? 'refused by both' : 'taken by both'
  const [who, reasons] =
    lethe.taken < nginx.taken ? (['stricter', stricter] as const) : (['looser', looser] as const)
  const found = Object.entries(reasons).find(([, applies]) => applies(request, lethe, nginx))
  return found ? `${who}: ${found[0]}` : null
}
