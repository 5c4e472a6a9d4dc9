// The longest that JavaScript itself writes has 25; this leaves room for zeros.
const maxCharacters = 100

/**
 * What is wrong with a number as it was written, or undefined when a double holds exactly that number: `value` is what
 * the parser made of `source`.
 */
export function numberProblem(source: string, value: number): string | undefined {
  if (source.length > maxCharacters) {
    return `a number of ${source.length} characters has more digits than a double holds; put it in quotes`
  }
  if (!Number.isFinite(value)) return `${source} is not a number that can be kept; put it in quotes`
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    return `${source} is beyond 2^53 − 1, where a double loses digits; put it in quotes`
  }
  if (/^[-+]?0[0-9]/.test(source)) {
    return `${source} begins with a zero, which a number would lose; put it in quotes, or remove the zero`
  }
  if (/^[-+]?0[xo]/i.test(source)) return undefined
  if (digitsOf(source) === digitsOf(String(value))) return undefined
  return `${source} has more digits than a double holds, which would keep ${value}; put it in quotes`
}

/** A decimal number as `sign digits e exponent`, the same for all ways to write the same number. */
function digitsOf(text: string): string {
  const parts = /^([-+]?)([0-9]*)(?:\.([0-9]*))?(?:e([-+]?[0-9]+))?$/i.exec(text)
  if (parts === null) return text
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + (digits.length - significant.length)
  return `${sign === '-' ? '-' : ''}${significant}e${power}`
}
