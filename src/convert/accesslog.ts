import { createHmac } from 'node:crypto'
import { formatInstant, type Instant } from '../domain/instant.ts'
import { deriveId, identifiersOf, presentFields } from './fields.ts'
import {
  type Conversion,
  type ConvertOptions,
  type ImportLine,
  type LineFormat,
  UsageProblem,
} from './format.ts'
import { type LoggedRequest, parseLogLine } from './log-line.ts'
import { Sessions } from './sessions.ts'

export const minSaltBytes = 16

/** Access logs of nginx and Apache. Addresses become salted IDs and are not written. */
export const accesslog: LineFormat = {
  name: 'accesslog',
  summary: 'access logs of nginx and Apache, in the combined or common format',
  input: 'lines',
  options: ['salt', 'daily', 'skipBots', 'skipStatic', 'dropQuery'],
  start({ salt, ...options }) {
    if (salt === undefined || salt.length < minSaltBytes) {
      const problem = salt === undefined ? 'needs --salt-file' : 'needs a longer salt'
      throw new UsageProblem(
        `The format accesslog ${problem}: a file with at least ${minSaltBytes} secret bytes. Create one with: head -c 32 /dev/urandom > salt`,
      )
    }
    return new AccessLogConversion(salt, options)
  },
}

const bots =
  /bot\b|bot[/;_-]|crawl|spider|slurp|scrap|monitor|headless|lighthouse|preview|fetch|scan|feed|^\w*(?:curl|wget|python|go-http|java|okhttp|libwww|ruby|perl|php|node|axios|httpie|postman)\b/i
const staticFiles =
  /\.(?:avif|bmp|css|eot|gif|ico|jpe?g|js|map|mjs|mp3|mp4|ogg|otf|png|svg|tiff?|ttf|wasm|webm|webmanifest|webp|woff2?)$/i

class AccessLogConversion implements Conversion<string> {
  readonly #salt: Uint8Array
  readonly #options: ConvertOptions
  readonly #sessions = new Sessions()
  /** How often the requests of the current second were repeated. */
  #repeats = new Map<string, number>()
  #second: Instant | null = null

  constructor(salt: Uint8Array, options: ConvertOptions) {
    this.#salt = salt
    this.#options = options
  }

  convert(line: string): ImportLine[] {
    const logged = parseLogLine(line)
    const { at, agent, user } = logged
    if (this.#isSkipped(logged)) return []
    const subjectId = this.#subjectId(logged)
    const { sessionId, isNew } = this.#sessions.at(subjectId, at)
    const identifiers = identifiersOf(user)
    const properties = this.#propertiesOf(logged)
    const eventId = this.#eventId(subjectId, at, JSON.stringify(properties))
    const event: ImportLine = {
      ...{ type: 'event', subjectId, sessionId, eventId, name: 'request', occurredAt: at },
      ...{ properties, identifiers },
    }
    if (!isNew) return [event]
    const attributes = presentFields({ userAgent: agent, referrer: properties?.referrer })
    return [{ type: 'session', subjectId, sessionId, startedAt: at, attributes }, event]
  }

  #isSkipped({ agent, url }: LoggedRequest): boolean {
    const { skipBots, skipStatic } = this.#options
    if (skipBots && (agent === undefined || bots.test(agent))) return true
    return skipStatic === true && url !== undefined && staticFiles.test(withoutQuery(url))
  }

  /** An HMAC, because the few billion addresses could otherwise be tried. */
  #subjectId({ address, agent = '', at }: LoggedRequest): string {
    const day = this.#options.daily ? formatInstant(at).slice(0, 10) : ''
    const visitor = [day, address.toLowerCase(), agent].join('\n')
    return createHmac('sha256', this.#salt).update(visitor).digest('base64url').slice(0, 22)
  }

  #propertiesOf({ method, url, status, bytes, referrer }: LoggedRequest) {
    const shown = (address: string | undefined) =>
      address !== undefined && this.#options.dropQuery ? withoutQuery(address) : address
    return presentFields({ method, url: shown(url), status, bytes, referrer: shown(referrer) })
  }

  /** Logs have seconds and no IDs. Counts identical requests within a second, so that each is an event. */
  #eventId(subjectId: string, at: Instant, request: string): string {
    if (this.#second !== at) this.#repeats = new Map()
    this.#second = at
    const id = deriveId('request', subjectId, at, request)
    const repeats = this.#repeats.get(id) ?? 0
    this.#repeats.set(id, repeats + 1)
    return repeats === 0 ? id : deriveId(id, repeats)
  }
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}
