/**
 * Says in a few words what was found, for the message of a problem: `'abc'`, `5`, `null`, `a list of 3`, `an object`.
 * Long texts are cut; what is inside lists and objects is never shown.
 */
export function valueText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.length > 60 ? `'${value.slice(0, 57).toWellFormed()}…'` : `'${value}'`
    case 'number':
    case 'boolean':
      return String(value)
    case 'undefined':
      return 'nothing'
    case 'object':
      if (value === null) return 'null'
      if (!Array.isArray(value)) return 'an object'
      return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
    default:
      return `a ${typeof value}`
  }
}

/** `a, b or c`. */
export function orList(words: readonly string[]): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
