import { Socket } from 'node:net'

/**
 * Sends the statements that are asked for at one moment as one piece: each would be a call of the system otherwise. The driver holds
 * back the messages of each statement until it has written them; this holds them back until nobody has anything more to say.
 */
export class BatchingSocket extends Socket {
  #isHolding = false

  override cork(): void {
    super.cork()
    if (this.#isHolding) return
    this.#isHolding = true
    super.cork()
    process.nextTick(() => {
      this.#isHolding = false
      super.uncork()
    })
  }
}
