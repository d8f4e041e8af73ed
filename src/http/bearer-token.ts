/** Whether a request carries a bearer token at all, good or bad. Another scheme counts as none. */
export function hasBearerToken(authorization: string | undefined): authorization is string {
  return authorization !== undefined && /^Bearer +\S/i.test(authorization)
}

/** The token; `undefined` where there is none, or something else behind it. */
export function readBearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
}
