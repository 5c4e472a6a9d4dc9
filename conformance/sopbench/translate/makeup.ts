import { countOperators } from './quantified-phrases.ts'
import { type Condition, operand, quote } from './term.ts'
import { findValue, type Reader } from './values.ts'

const classes: { readonly [word: string]: string } = {
  digit: '[0-9]',
  letter: '[A-Za-z]',
  'upper-case letter': '[A-Z]',
  'lower-case letter': '[a-z]',
  'letter or digit': '[A-Za-z0-9]',
  'letters and digit': '[A-Za-z0-9]',
}

/** What a text is made of: `pin has 4 digits`, `name consists of at least two words`, `code is 6 characters long`. */
export function readMakeup(reader: Reader, text: string): Condition | undefined {
  const parts =
    /^(.+?) (?:has|is|consists of|contains|is made of) (?:(exactly|at least|at most|more than|fewer than) )?(\S+)[ -](.+?)s?(?: long| in length)?$/.exec(
      text,
    )
  const only = /^(.+?) (?:consists of|is made of|contains|has)(?: only)? (.+?)s?(?: only)?$/.exec(
    text,
  )
  if (parts !== null) {
    const [, about = '', words = 'exactly', count = '', unit = ''] = parts
    const value = findValue(reader, about)
    const number = findValue(reader, count)
    if (value?.shape.kinds.has('text') && number?.shape.kinds.has('number')) {
      const guards = [...value.guards, ...number.guards]
      const operator = countOperators[words] ?? ''
      if (unit === 'character')
        return { cel: `size(${value.cel}) ${operator} ${number.cel}`, guards }
      if (unit === 'word') {
        const size = `size(trim(${value.cel}).split(' '))`
        return { cel: `${size} ${operator} ${number.cel}`, guards }
      }
      const repeat = { exactly: `{${number.cel}}`, 'at least': `{${number.cel},}` }[words]
      const isPlain = /^\d+$/.test(number.cel)
      if (classes[unit] !== undefined && repeat !== undefined && isPlain) {
        return { cel: `${operand(value.cel)}.matches(${quote(classes[unit] + repeat)})`, guards }
      }
    }
  }
  const kind = classes[only?.[2] ?? '']
  const value = kind === undefined ? undefined : findValue(reader, only?.[1] ?? '')
  if (kind === undefined || !value?.shape.kinds.has('text')) return undefined
  return { cel: `${operand(value.cel)}.matches(${quote(`${kind}+`)})`, guards: value.guards }
}
