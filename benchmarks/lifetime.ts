/** What is started and made for a benchmark goes when the benchmark does, or with this process, in whatever order that comes. */
export class Lifetime {
  #endings: (() => void | Promise<void>)[] = []
  readonly #endAtOnce = () => {
    for (const end of this.#endings.reverse()) void end()
  }

  constructor() {
    process.once('exit', this.#endAtOnce)
  }

  /** Does `work` at the end; what came last goes first. */
  after(work: () => void | Promise<void>): void {
    this.#endings.push(work)
  }

  async end(): Promise<void> {
    process.off('exit', this.#endAtOnce)
    for (const end of this.#endings.reverse()) await end()
    this.#endings = []
  }
}
