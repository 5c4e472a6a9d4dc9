import { Untranslatable } from '../playbook.ts'
import { compare } from './comparisons.ts'
import { splits } from './phrase.ts'
import { readQuantified } from './quantified-phrases.ts'
import { readSpan, readThere } from './spans.ts'
import { readStatement } from './statements.ts'
import { type Condition, operand } from './term.ts'
import { findValue, type Reader, unmask } from './values.ts'

/** Reads a condition: quantifiers, `and` and `or`, comparisons. Throws `Untranslatable`. */
export function readCondition(reader: Reader, phrase: string): Condition {
  const text = phrase.trim().replace(/^[,;]\s*|\s*[,;.]$/g, '')
  const found =
    readConstant(text) ??
    readQuantified(reader, text) ??
    readSpan(reader, text) ??
    readThere(reader, text) ??
    readJoined(reader, text) ??
    readComparison(reader, text) ??
    readStatement(reader, text)
  if (found === undefined) throw new Untranslatable(`'${unmask(reader, text)}' is not understood`)
  return found
}

function readConstant(text: string): Condition | undefined {
  if (/^(always true|always holds|always|true)$/.test(text)) return { cel: 'true', guards: [] }
  if (/^(never true|never holds|never|false)$/.test(text)) return { cel: 'false', guards: [] }
  return undefined
}

function readJoined(reader: Reader, text: string): Condition | undefined {
  const chained = readIfThen(reader, text)
  if (chained !== undefined) return chained
  const both = /^(?:both|either) (.+)$/.exec(text)?.[1] ?? text
  return readJoinedOf(both, (part) => readCondition(reader, part))
}

/** `if A then B`, `B unless A`. */
function readIfThen(reader: Reader, text: string): Condition | undefined {
  const parts = /^if (.+?),? then (.+)$/.exec(text)
  const unless = /^(.+?),? unless (.+)$/.exec(text)
  const [test, then] = parts !== null ? [parts[1], parts[2]] : [unless?.[2], unless?.[1]]
  if (test === undefined || then === undefined || / else /.test(text)) return undefined
  const [a, b] = [readCondition(reader, test), readCondition(reader, then)]
  const left = parts === null ? operand(a.cel) : `!${operand(a.cel)}`
  return { cel: `${left} || ${operand(b.cel)}`, guards: [...a.guards, ...b.guards] }
}

/** Splits at `or` first, since `and` binds more tightly; only where both sides are conditions by themselves. */
export function readJoinedOf(
  text: string,
  read: (part: string) => Condition,
): Condition | undefined {
  const attempt = (part: string): Condition | undefined => {
    try {
      return read(part)
    } catch (error) {
      if (error instanceof Untranslatable) return undefined
      throw error
    }
  }
  for (const [separator, operator] of [
    [', or ', '||'],
    [' or else ', '||'],
    ['; ', '&&'],
    [', and ', '&&'],
    [' or ', '||'],
    [' and ', '&&'],
  ] as const) {
    for (const [left, right] of splits(text, separator)) {
      const one = attempt(left)
      const second = right.replace(/^(either|both) /, '')
      const other =
        one === undefined ? undefined : (attempt(second) ?? attempt(withSubject(left, second)))
      if (one === undefined || other === undefined) continue
      const parts = [one.cel, other.cel].map((cel) =>
        operator === '&&' ? andOperand(cel) : orOperand(cel),
      )
      return { cel: parts.join(` ${operator} `), guards: [...one.guards, ...other.guards] }
    }
  }
  return undefined
}

/** `A is not empty and is in B`: the second part is about the same as the first. */
function withSubject(left: string, right: string): string {
  if (!/^(is|are|has|have|does|was|were|do|can|occurs?|contains?) /.test(right)) return ''
  const about = /^(.+?) (?:is|are|has|have|does|was|were|do|can|occurs?|contains?) /.exec(left)?.[1]
  return about === undefined ? '' : `${about} ${right}`
}

function andOperand(cel: string): string {
  return /\|\|| \? /.test(cel) ? `(${cel})` : cel
}

function orOperand(cel: string): string {
  return /&&| \? /.test(cel) ? `(${cel})` : cel
}

/** Comparisons in words, and how they are written. The longer come first. */
const wordOperators: readonly (readonly [RegExp, string])[] = [
  [/ is (?:not|no) (?:later|earlier) than /, ''],
  [/ (?:is )?on or before | is not after | is no later than /, '<='],
  [/ (?:is )?on or after | is not before | is no earlier than /, '>='],
  [/ (?:is|are) (?:at least|not below|not less than|no less than) | covers /, '>='],
  [/ (?:is|are) (?:at most|not above|not more than|no more than|up to) | does not exceed /, '<='],
  [/ (?:is|are) (?:greater than or equal to|more than or equal to) /, '>='],
  [/ (?:is|are) (?:less than or equal to|smaller than or equal to) /, '<='],
  [
    / (?:is|are) (?:strictly )?(?:above|more than|greater than|over|larger than|higher than|after|later than) | exceeds /,
    '>',
  ],
  [
    / (?:is|are) (?:strictly )?(?:below|less than|under|smaller than|fewer than|lower than|before|earlier than) /,
    '<',
  ],
  [/ (?:is|are) (?:not equal to|different from|other than) | differs from | does not equal /, '!='],
  [/ (?:is|are) (?:exactly )?(?:equal to|the same as|identical to) | equals | matches /, '=='],
]

function readComparison(reader: Reader, text: string): Condition | undefined {
  const plain = wordOperators.reduce(
    (sofar, [pattern, operator]) =>
      operator === '' ? sofar : sofar.replace(pattern, ` ${operator} `),
    text,
  )
  const signs = plain.replaceAll('≤', '<=').replaceAll('≥', '>=').replaceAll('≠', '!=')
  const between = /^(.+?) is (?:between|within|in the range|from) (.+?) (?:and|to) (.+)$/.exec(
    signs,
  )
  const ordered = between === null ? signs : `${between[2]} <= ${between[1]} <= ${between[3]}`
  const parts = ordered.split(/ (<=|>=|==|!=|<|>|=) /)
  if (parts.length < 3) return undefined
  const conditions: Condition[] = []
  for (let at = 0; at + 2 < parts.length; at += 2) {
    const operator = parts[at + 1] === '=' ? '==' : (parts[at + 1] ?? '')
    const [left, right] = [parts[at], parts[at + 2]].map((part) => findValue(reader, part ?? ''))
    if (left === undefined || right === undefined) return undefined
    conditions.push(compare(reader, left, operator, right))
  }
  return {
    cel: conditions.map(({ cel }) => cel).join(' && '),
    guards: conditions.flatMap(({ guards }) => guards),
  }
}
