/** A place in a text, both figures from 1. A column counts UTF-16 code units, as editors do. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** Makes the function that turns offsets of a text into lines and columns. */
export function positionsOf(text: string): (offset: number) => Position {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}

/** The offset of a line and column; the end of the text for those that lie behind it. */
export function offsetAt(text: string, { line, column }: Position): number {
  let start = 0
  for (let left = line; left > 1; left -= 1) {
    const end = text.indexOf('\n', start)
    if (end === -1) return text.length
    start = end + 1
  }
  return Math.min(start + column - 1, text.length)
}
