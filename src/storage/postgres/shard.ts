/** The place of the shard of a hash among `shards`, the least hash of each in order. */
export function shardOf(shards: readonly number[], hash: number): number {
  return shards.findLastIndex((least) => least <= hash)
}
