/** One thing that is wrong with an input, and where. Problems are always gathered and reported together. */
export interface Problem {
  /** Where, in the form `steps[2].with.amount`; empty for the whole value. */
  readonly path: string
  /** What was found, what was expected, and what to do, as one sentence for people. */
  readonly message: string
  /** 1-based position in the text that was read, when there was one. */
  readonly line?: number | undefined
  readonly column?: number | undefined
}

/** A problem of one of several files. */
export interface FileProblem extends Problem {
  readonly file: string
}

/** Writes a path as people read it: `steps[2].with.amount`; keys that are no plain word are quoted. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(String(part)))
      text += text === '' ? String(part) : `.${String(part)}`
    else text += `[${JSON.stringify(String(part))}]`
  }
  return text
}

/** Where in a text that was read a problem lies: ` (line 3, column 5)`; empty when it is not known. */
export function placeText({ line, column = 1 }: Problem): string {
  return line === undefined ? '' : ` (line ${line}, column ${column})`
}

/** The same of a problem whose place lies within the expression at its path, in no file: ` (column 5 of the expression)`. */
export function innerPlaceText({ line, column = 1 }: Problem): string {
  if (line === undefined) return ''
  return ` (${line === 1 ? '' : `line ${line}, `}column ${column} of the expression)`
}
