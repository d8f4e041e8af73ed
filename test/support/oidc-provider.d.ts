// The parts of `oidc-provider` that tests use. The package has no types.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Context {
    oidc: { client?: { clientId: string }; session?: { accountId?: string } }
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>
    Grant: new (owner: {
      clientId: string | undefined
      accountId: string | undefined
    }) => { addOIDCScope(scope: string): void; save(): Promise<string> }
  }

  export type { Context }
}
