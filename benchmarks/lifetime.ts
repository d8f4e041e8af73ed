/** Stops and removes what a benchmark started and created, at its end or when the process exits. */
export class Lifetime {
  #endings: (() => void | Promise<void>)[] = []
  readonly #endAtOnce = () => {
    for (const end of this.#endings.reverse()) void end()
  }

  constructor() {
    process.once('exit', this.#endAtOnce)
  }

  /** Runs `work` at the end, in reverse order of registration. */
  after(work: () => void | Promise<void>): void {
    this.#endings.push(work)
  }

  async end(): Promise<void> {
    process.off('exit', this.#endAtOnce)
    for (const end of this.#endings.reverse()) await end()
    this.#endings = []
  }
}
