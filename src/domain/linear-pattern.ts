import { RE2JS } from 're2js'

/** The longest pattern, in characters. */
const maxPatternLength = 1_000
// A state machine this large still walks 64 KiB of text in well under a second.
const maxProgramSize = 2_500

export interface LinearPattern {
  readonly test: (text: string) => boolean
  /** The pattern itself: the schema compiler tells patterns apart by it. */
  readonly toString: () => string
}

/**
 * Compiles a regular expression of JSON Schema so that matching takes time linear in the text, whatever the pattern.
 * Lookarounds and back references, which cannot be matched so, are refused.
 *
 * @throws Error saying what is wrong with the pattern, for people.
 */
export function linearPattern(pattern: string): LinearPattern {
  if (pattern.length > maxPatternLength) {
    throw new Error(`has ${pattern.length} characters, the limit is ${maxPatternLength}`)
  }
  const compiled = compile(pattern)
  if (compiled.programSize() > maxProgramSize) {
    throw new Error('repeats too much; use smaller bounds in {n,m}, or minLength and maxLength')
  }
  return { test: (text) => compiled.test(text), toString: () => pattern }
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : ''
    throw new Error(`cannot be read as a regular expression without lookaround: ${reason}`)
  }
}
