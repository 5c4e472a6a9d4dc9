/** A text as it is written in a document: where it begins and ends, and in which of YAML's five styles. */
export interface WrittenText {
  readonly value: string
  readonly start: number
  readonly end: number
  readonly style: string | undefined
}

/**
 * The offset in a document at which a character of a text stands, though quotes, escapes, indentation and folded lines
 * are written otherwise than they are read. Where the two cannot be followed side by side, the start of the text.
 */
export function offsetOf(document: string, text: WrittenText, at: number): number {
  const { value, end, style } = text
  let source = text.start
  if (style === 'QUOTE_SINGLE' || style === 'QUOTE_DOUBLE') source += 1
  else if (style?.startsWith('BLOCK_') === true) source = document.indexOf('\n', source) + 1
  let read = 0
  while (source < end) {
    const written = document[source] ?? ''
    if (style === 'QUOTE_DOUBLE' && written === '\\') {
      const [length, characters] = escapeAt(document, source)
      if (read + characters > at) return source
      source += length
      read += characters
    } else if (written === value[read]) {
      if (read === at) return source
      // Of a quote in single quotes there are two.
      source += style === 'QUOTE_SINGLE' && written === "'" ? 2 : 1
      read += 1
    } else if (isBlank(written)) {
      // A line end that is read as a blank; all blanks around it stand for nothing.
      if (written === '\n' && value[read] === ' ') {
        if (read === at) return source
        read += 1
      }
      source += 1
    } else break
  }
  return read >= at && source <= end ? source : text.start
}

/** How long an escape is, and how many characters it is read as. */
function escapeAt(document: string, at: number): readonly [length: number, characters: number] {
  const letter = document[at + 1]
  if (letter === 'x') return [4, 1]
  if (letter === 'u') return [6, 1]
  if (letter === 'U')
    return [10, Number.parseInt(document.slice(at + 2, at + 10), 16) > 0xffff ? 2 : 1]
  // An escaped line end joins two lines.
  return letter === '\n' ? [2, 0] : [2, 1]
}

function isBlank(character: string): boolean {
  return character === ' ' || character === '\t' || character === '\n' || character === '\r'
}
