/** Redis is there, or somebody in its place, and says nothing. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
}
