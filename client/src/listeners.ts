/** The functions to call when something happens. */
export class Listeners<Event> {
  readonly #listeners = new Set<(event: Event) => void>()

  /** Returns how to remove the listener. */
  add(listener: (event: Event) => void): () => void {
    // The same function may be added twice.
    const own = (event: Event) => listener(event)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  /** An exception of a listener is uncaught, as with `EventTarget`; the other listeners are called. */
  notify(event: Event): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
}
