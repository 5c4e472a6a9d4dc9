/**
 * Arithmetic on doubles that gives what people get on paper: a number means its shortest decimal text, the operation is
 * exact on that, and the result is the nearest double. Hence 0.1 + 0.2 is 0.3, and money adds up.
 */
interface Decimal {
  readonly units: bigint
  /** The value is `units × 10^−scale`. */
  readonly scale: number
}

export function add(a: number, b: number): number {
  const quick = a + b
  if (isExact(a, b, quick)) return quick
  return toNumber(addDecimals(toDecimal(a), toDecimal(b)))
}

export function subtract(a: number, b: number): number {
  return add(a, -b)
}

export function multiply(a: number, b: number): number {
  const quick = a * b
  if (isExact(a, b, quick)) return quick
  const left = toDecimal(a)
  const right = toDecimal(b)
  return toNumber({ units: left.units * right.units, scale: left.scale + right.scale })
}

/** The quotient of the two decimals to at least 25 digits, as the nearest double. `b` must not be zero. */
export function divide(a: number, b: number): number {
  // IEEE division rounds correctly, and both operands mean exactly themselves.
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) return a / b
  const left = toDecimal(a)
  const right = toDecimal(b)
  const numerator = left.units * 10n ** BigInt(right.scale)
  const denominator = right.units * 10n ** BigInt(left.scale)
  const digits = Math.max(0, 25 + digitCount(denominator) - digitCount(numerator))
  return toNumber({ units: (numerator * 10n ** BigInt(digits)) / denominator, scale: digits })
}

/** The remainder with the sign of `a`. `b` must not be zero. */
export function remainder(a: number, b: number): number {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) return a % b
  const [left, right, scale] = align(toDecimal(a), toDecimal(b))
  return toNumber({ units: left % right, scale })
}

/** The exact sum of all, rounded once to the nearest double: the order of the numbers does not matter. */
export function sum(numbers: readonly number[]): number {
  const total = numbers.reduce<Decimal>((left, right) => addDecimals(left, toDecimal(right)), {
    units: 0n,
    scale: 0,
  })
  return toNumber(total)
}

/** Rounds to `places` decimal places, 0 to 15; halves go away from zero, as on an invoice. */
export function round(value: number, places: number): number {
  const { units, scale } = toDecimal(value)
  if (scale <= places) return value
  const unit = 10n ** BigInt(scale - places)
  const half = units < 0n ? -unit / 2n : unit / 2n
  return toNumber({ units: (units + half) / unit, scale: places })
}

/** The shortest decimal text of a number, never with an exponent. */
export function decimalText(value: number): string {
  const text = String(value)
  if (!text.includes('e')) return text
  const { units, scale } = toDecimal(value)
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const sign = units < 0n ? '-' : ''
  if (scale === 0) return sign + digits
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

function isExact(a: number, b: number, result: number): boolean {
  return Number.isSafeInteger(a) && Number.isSafeInteger(b) && Number.isSafeInteger(result)
}

function toDecimal(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const scale = fraction.length - Number(exponent)
  const units = BigInt(whole + fraction)
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale }
}

function toNumber({ units, scale }: Decimal): number {
  return Number(`${units}e${-scale}`)
}

function addDecimals(a: Decimal, b: Decimal): Decimal {
  const [left, right, scale] = align(a, b)
  return { units: left + right, scale }
}

function align(a: Decimal, b: Decimal): readonly [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale)
  return [a.units * 10n ** BigInt(scale - a.scale), b.units * 10n ** BigInt(scale - b.scale), scale]
}

function digitCount(value: bigint): number {
  return String(value < 0n ? -value : value).length
}
