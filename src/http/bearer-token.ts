/** Whether a request carries a bearer token at all, good or bad. Another scheme counts as none. */
export function hasBearerToken(authorization: string | undefined): authorization is string {
  return authorization !== undefined && /^Bearer +\S/i.test(authorization)
}
