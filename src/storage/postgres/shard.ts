import { integer, text } from '../nouns/row.ts'
import { postgresOnly, type Statement } from '../nouns/statement.ts'
import type { Run } from './transaction.ts'

/** The place of the shard of a hash among `shards`, the least hash of each in order. */
export function shardOf(shards: readonly number[], hash: number): number {
  return shards.findLastIndex((least) => least <= hash)
}

/** A statement about the subjects with the keys `$1`: on one machine, and on the one shard where all are. */
interface OfSubjects {
  local: Statement
  onShard: Statement
}

/**
 * `here` is a condition for a joined table. It tells a cluster that its rows are on the shard of the subjects
 * too, and compares each row with all keys: name no more than some hundred.
 */
export function ofSubjects(toText: (here: (table: string) => string) => string): OfSubjects {
  const local = toText(() => '')
  const onShard = toText((table) => ` AND ${table}.subject_key = ANY ($1)`)
  return { local: postgresOnly(local, 'never'), onShard: postgresOnly(onShard, 'colocated') }
}

/**
 * Splits keys of subjects into groups, each on one shard, in the order of the shards, so that two
 * transactions which lock them cannot deadlock. On one machine there is one group.
 */
export interface Grouping {
  areOnShards: boolean
  of(keys: Iterable<string>): string[][]
}

const hashes = postgresOnly('SELECT key, worker_hash(key) AS hash FROM unnest($1::uuid[]) AS given (key)')

/** How to group any of these keys. */
export async function groupingOf(
  run: Run,
  keys: readonly string[],
  shards: readonly number[],
): Promise<Grouping> {
  if (shards.length === 0) return { areOnShards: false, of: (some) => [[...some]] }
  const { rows } = await run(hashes, [keys])
  const places = new Map(rows.map((row) => [text(row, 'key'), shardOf(shards, integer(row, 'hash'))]))
  return {
    areOnShards: true,
    of(some) {
      const groups = Map.groupBy(some, (key) => places.get(key) ?? 0)
      return [...groups].sort(([a], [b]) => a - b).map(([, keys]) => keys)
    },
  }
}

export function chosen({ local, onShard }: OfSubjects, { areOnShards }: Grouping): Statement {
  return areOnShards ? onShard : local
}
