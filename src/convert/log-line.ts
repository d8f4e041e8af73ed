import { type Instant, parseInstant } from '../domain/instant.ts'
import { UnusableRecord } from './format.ts'

/** A request in an access log. What was logged as `-` is undefined. */
export interface LoggedRequest {
  address: string
  user: string | undefined
  at: Instant
  method: string | undefined
  url: string | undefined
  status: number | undefined
  bytes: number | undefined
  referrer: string | undefined
  agent: string | undefined
}

const quoted = '"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"'
// The user name may contain spaces. What follows the user agent depends on the configuration.
const line = new RegExp(
  `^(\\S+) \\S+ (.*?) \\[([^\\]]{1,40})\\] ${quoted} (\\d{3}|-) (\\d{1,15}|-)(?: ${quoted} ${quoted})?(?: |$)`,
)
const time = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const request = /^([A-Z]{1,20}) (\S+)(?: HTTP\/[\d.]+)?$/

/** Parses a line of the combined or common log format. Throws `UnusableRecord` for anything else. */
export function parseLogLine(text: string): LoggedRequest {
  const match = line.exec(text)
  if (match === null) throw new UnusableRecord('not a line of the common or combined log format')
  const [, address = '-', user, when = '', asked, status, bytes, referrer, agent] = match
  if (address === '-') throw new UnusableRecord('the address is missing')
  const [, method, url] = request.exec(textOf(asked) ?? '') ?? []
  return {
    address,
    user: textOf(user),
    at: readLogTime(when),
    ...{ method, url },
    status: numberOf(status),
    bytes: numberOf(bytes),
    referrer: textOf(referrer),
    agent: textOf(agent),
  }
}

function readLogTime(text: string): Instant {
  const [, day, month = '', year, clock, hours, minutes] = time.exec(text) ?? []
  const number = String(months.indexOf(month) + 1).padStart(2, '0')
  const instant = parseInstant(`${year}-${number}-${day}T${clock}${hours}:${minutes}`)
  if (instant === null) throw new UnusableRecord('the time is invalid')
  return instant
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || text === '-' ? undefined : Number(text)
}

function textOf(text: string | undefined): string | undefined {
  return text === undefined || text === '' || text === '-' ? undefined : unescaped(text)
}

/** nginx and Apache escape quotes and bytes outside printable ASCII. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text
    .replaceAll(/(?:\\x[0-9A-Fa-f]{2})+/g, (bytes) =>
      Buffer.from(bytes.replaceAll('\\x', ''), 'hex').toString('utf8'),
    )
    .replaceAll(/\\(["\\])/g, '$1')
}
