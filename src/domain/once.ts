/** What is needed seldom is made when it is first asked for, and then kept. */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
