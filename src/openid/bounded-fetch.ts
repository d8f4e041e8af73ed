import type { CustomFetch } from 'openid-client'

/** More than any provider's metadata, keys or tokens need. */
const maxBytes = 1024 * 1024

/** `fetch` for responses that are read completely, and are refused above a megabyte. */
export const boundedFetch: CustomFetch = async (url, { body, ...init }) => {
  const response = await fetch(url, { ...init, body: body ? String(body) : null })
  if (response.body === null) return response
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.length
    // Leaving the loop cancels the rest.
    if (bytes > maxBytes) throw new TypeError('The response of the identity provider is too large.')
    chunks.push(chunk)
  }
  const { status, headers } = response
  return new Response(Buffer.concat(chunks), { status, headers })
}
