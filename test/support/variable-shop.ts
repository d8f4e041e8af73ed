import { allScopes } from '../../src/domain/api-key.ts'
import { editVariables } from '../../src/operations/variable.ts'
import { createVariableToken } from '../../src/operations/variable-token.ts'
import type { Lifetime } from './service.ts'
import { type Shop, startShop } from './shop.ts'

/** A shop with variables and one token to read them. */
export interface VariableShop extends Shop {
  token: string
  tokenId: string
  /** Replaces all variables. */
  set(variables: Record<string, unknown>): Promise<void>
}

export async function startVariableShop(
  t: Lifetime,
  variables: Record<string, unknown>,
  env: Record<string, string> = {},
): Promise<VariableShop> {
  const shop = await startShop(t, {
    scopes: allScopes(),
    env,
  })
  const set = async (after: Record<string, unknown>) => {
    await editVariables(shop.services, 'shop', { apply: () => new Map(Object.entries(after)) })
  }
  await set(variables)
  const { token, tokenString } = await createVariableToken(shop.services, { trackerId: 'shop', name: 'site' })
  return { ...shop, token: tokenString, tokenId: token.id, set }
}
