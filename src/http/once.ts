/** Makes something when it is first asked for, and keeps it. */
export function once<Made extends object | string>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}
