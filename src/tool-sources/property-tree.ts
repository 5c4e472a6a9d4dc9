/** Which properties of a value are meant: each name with those below it, or with none for the whole of it. */
export type PropertyTree = ReadonlyMap<string, PropertyTree>

/** Makes a tree of paths such as `id`, `customer.email`. A path that another one contains adds nothing. */
export function propertyTree(paths: readonly string[]): PropertyTree {
  type Node = Map<string, Node>
  const root: Node = new Map()
  const shortestFirst = paths.map((path) => path.split('.')).sort((a, b) => a.length - b.length)
  for (const parts of shortestFirst) {
    let node = root
    for (const [index, part] of parts.entries()) {
      const known = node.get(part)
      // The whole of it is meant already.
      if (known?.size === 0 && index < parts.length - 1) break
      if (known?.size === 0) break
      const next = known ?? new Map()
      node.set(part, next)
      node = next
    }
  }
  return root
}
