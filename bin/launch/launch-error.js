/** What keeps the command from starting, in words for whoever typed it. */
export class LaunchError extends Error {
  /**
   * @param {string} message
   * @param {NodeJS.Signals | null} [signal] the signal to end by, when one was the cause
   */
  constructor(message, signal = null) {
    super(message)
    this.signal = signal
  }
}
