/** A mistake of the person who runs the benchmarks. It is reported in one line. */
export class UsageError extends Error {}
