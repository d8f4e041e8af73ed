/** The reason why the command cannot start, as a message for the user. */
export class LaunchError extends Error {
  /**
   * @param {string} message
   * @param {NodeJS.Signals | null} [signal] the signal to end with, if a signal was the cause
   */
  constructor(message, signal = null) {
    super(message)
    this.signal = signal
  }
}
