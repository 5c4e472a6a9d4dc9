const [quote, comma, colon, openBracket, backslash, closeBracket, openBrace, closeBrace] = [
  34, 44, 58, 91, 92, 93, 123, 125,
]

/**
 * The first name that stands twice in one object of a JSON text; undefined when none does. Readers differ in which of the
 * two they take, so that one of them would judge what another acts on.
 *
 * `text` is JSON: it was parsed before.
 */
export function findRepeatedName(text: string): string | undefined {
  // Of each object and list that is open; undefined for a list.
  const open: (Set<string> | undefined)[] = []
  let mayBeName = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = endOfString(text, at)
      const names = mayBeName ? open.at(-1) : undefined
      if (names !== undefined) {
        const raw = text.slice(at, end + 1)
        const name = raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1)
        if (names.has(name)) return name
        names.add(name)
      }
      at = end
    } else if (code === openBrace) open.push(new Set())
    else if (code === openBracket) open.push(undefined)
    else if (code === closeBrace || code === closeBracket) open.pop()
    // A string is a name where an object or a member of it begins: what comes after a colon is a value.
    if (code === openBrace || code === comma) mayBeName = true
    else if (code === quote || code === colon || code === openBracket) mayBeName = false
  }
  return undefined
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== quote) {
    at += text.charCodeAt(at) === backslash ? 2 : 1
  }
  return at
}
