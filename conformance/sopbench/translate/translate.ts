import { type Ruling, Untranslatable } from '../playbook.ts'
import { readCondition } from './conditions.ts'
import { mask } from './phrase.ts'
import { dividedGuards } from './quantifiers.ts'
import type { Bound, RuleScope } from './scope.ts'
import { andOperand, type Condition, operand, orOperand } from './term.ts'
import { findValue, type Reader, readValue, unmask } from './values.ts'
import { plainly } from './wordings.ts'

/**
 * Writes a rule that is told in words as an expression, with the tools that it reads. The expression is true, false and
 * never fails: where something that the rule needs is not there, it is false.
 *
 * @throws Untranslatable naming the words that were not understood. Nothing is guessed.
 */
export function translate(scope: RuleScope, earlier: readonly string[]): Ruling {
  const { text, quoted } = mask(scope.check.holdsWhen)
  const reader: Reader = { scope, quoted }
  const prepared = prepare(reader, text, earlier)
  const { rest, definitions, wholeDays, ignoresCase, readsAll, ranking } = prepared
  scope.wholeDays = wholeDays
  scope.ranking = ranking
  scope.ignoresCase = ignoresCase
  for (const [name, value] of definitions) scope.definitions.set(name, define(reader, value))
  const condition = scope.bound.reduce(within, readCondition(reader, rest))
  const needed = readsAll ? scope.sources().flatMap(({ output }) => output.guards) : []
  const all = [...new Set([...needed, ...condition.guards])]
  const forgiven = prepared.forgivesAbsence ? all.filter(isOfAnswers) : []
  const guards = all.filter((guard) => !forgiven.includes(guard))
  const cel = [`!(${forgiven.join(' && ')})`, orOperand(condition.cel)].join(' || ')
  const said = forgiven.length > 0 ? cel : condition.cel
  const body = said === 'true' && guards.length > 0 ? [] : [sided(said, guards)]
  const when = [...ordered(guards), ...body].join(' && ')
  scope.use(when)
  return { lookups: [...scope.lookups.values()], when }
}

/** True for a guard on what lies in an answer, and not on there being one or on what the customer gave. */
function isOfAnswers(guard: string): boolean {
  return !guard.endsWith("status == 'completed'") && !guard.startsWith('has(input.')
}

/** A rule that is about one item of a list. */
function within(condition: Condition, { name, list, test }: Bound): Condition {
  const { inside, before } = dividedGuards(condition, { name })
  if (!new RegExp(`\\b${name}\\b`).test(condition.cel) && inside.length === 0) return condition
  const body = [test, ...inside, andOperand(condition.cel)].join(' && ')
  return {
    cel: `${operand(list.cel)}.exists(${name}, ${body})`,
    guards: [...list.guards, ...before],
  }
}

function sided(cel: string, guards: readonly string[]): string {
  return guards.length > 0 && /\|\|| \? /.test(cel) ? `(${cel})` : cel
}

/** Steps first, then what the customer gave, then what lies in the answers of the steps. */
function ordered(guards: readonly string[]): readonly string[] {
  const rank = (guard: string) =>
    guard.endsWith("status == 'completed'") ? 0 : guard.startsWith('has(input.') ? 1 : 2
  return [...guards].sort((a, b) => rank(a) - rank(b))
}

function define(reader: Reader, { value, quoted }: Definition) {
  const own = { ...reader, quoted }
  return findValue(own, value) ?? readValue(own, value)
}

interface Definition {
  readonly value: string
  readonly quoted: readonly string[]
}

interface Prepared {
  readonly rest: string
  readonly definitions: ReadonlyMap<string, Definition>
  readonly wholeDays: boolean
  readonly ignoresCase: boolean
  readonly readsAll: boolean
  readonly ranking: readonly string[]
  /** True when the rule holds where something that it reads is absent. */
  readonly forgivesAbsence: boolean
}

/** Takes out of a sentence what is said beside its condition: remarks, definitions, how times are compared. */
function prepare(reader: Reader, text: string, earlier: readonly string[]): Prepared {
  const definitions = new Map<string, Definition>()
  let rest = text
  let wholeDays = false
  const take = (pattern: RegExp, note: (...groups: string[]) => void) => {
    for (let found = pattern.exec(rest); found !== null; found = pattern.exec(rest)) {
      note(...found.slice(1).map((group) => group ?? ''))
      rest = (rest.slice(0, found.index) + rest.slice(found.index + found[0].length)).trim()
    }
  }
  rest = withoutRemarks(reader, rest).replace(
    /,? \(?(?:case-insensitive(?:ly)?|case is ignored|ignoring (?:the )?case)\)?(?=,|$)/,
    ', ignoring case',
  )
  let ignoresCase = false
  take(/,? ignoring case$/, () => {
    ignoresCase = true
  })
  if (ignoresCase && / and | or /.test(rest)) {
    throw new Untranslatable('it is not clear which comparison ignores case')
  }
  take(/,? where (\w+)(?: is| are| =| :=) (.+)$/, (name, value) =>
    definitions.set(name ?? '', { value: value ?? '', quoted: reader.quoted }),
  )
  take(/,? (today|now|[a-z_]+) = ([^<>=]+)$/, (name, value) =>
    definitions.set(name ?? '', { value: value ?? '', quoted: reader.quoted }),
  )
  take(/,? (?:converted|computed|defined|calculated|with .+) as above$/, () => {
    for (const [name, definition] of definedIn(earlier)) definitions.set(name, definition)
  })
  take(
    /,? on whole (?:dates|days)\b,?|,? compared (?:as|by) (?:calendar dates|whole dates|whole days|dates|days)$|,? \((?:compared (?:as|by) )?(?:calendar dates|whole dates|whole days|dates only)\)/,
    () => {
      wholeDays = true
    },
  )
  take(
    /,? \((?:so )?(?:the )?same day (?:is fine|is allowed|is included|counts|holds|also holds|passes)\)/,
    () => {
      wholeDays = true
    },
  )
  take(/,? \(strictly[^)]*\)/, () => {})
  let ranking: readonly string[] = []
  take(
    /,? (?:\(|in the |with the )(?:order|ranking|ranks?|levels)(?: is| are|,? from low(?:est)? to high(?:est)?)?:? ([^()]+?(?: <|,) [^()]+?)\)?$/,
    (names) => {
      ranking = (names ?? '').split(/ < |, /).map((name) => unmasked(reader, name.trim()))
    },
  )
  const readsAll = /^always\b/.test(rest)
  take(/; obliges .+$/, () => {})
  const forgivesAbsence = absence.test(text)
  return {
    rest: plainly(rest),
    definitions,
    wholeDays,
    ignoresCase,
    readsAll,
    ranking,
    forgivesAbsence,
  }
}

function unmasked(reader: Reader, name: string): string {
  return unmask(reader, name).replaceAll('"', '')
}

/** What earlier rules of the domain say that a name is. */
function definedIn(earlier: readonly string[]): ReadonlyMap<string, Definition> {
  const found = new Map<string, Definition>()
  for (const sentence of earlier) {
    const { text, quoted } = mask(sentence)
    const [, name, value] =
      /,? where (\w+) (?:is|are|=) (.+)$/.exec(text.replace(/ \([^()]*\)/g, '')) ?? []
    if (name !== undefined && value !== undefined) found.set(name, { value, quoted })
  }
  return found
}

/** A remark that something which is not there is no obstacle. */
const absence =
  /\((?:also )?(?:true|holds) (?:when|if) [^()]*(?:no entry|absent|missing|not there|null|no such|does not exist)[^()]*\)/

/** What the translator reads itself: it is no mere remark. */
const meant =
  /case-insensitive|case is ignored|when absent|if absent|when missing|if missing|when null|when none|midnight|ignoring case|lower-?cased|dates|whole days|strictly|^rounded|^(?:both )?(?:ends )?(?:inclusive|exclusive|(?:not )?included)$|^(?:order|ranking|ranks?|levels)\b|same day (?:is|counts|also|holds|passes)/
/** Words by which a remark would change what a rule says. */
const changing =
  /\b(unless|except|instead|only when|only if|plus|minus|otherwise|excluding|excluded|including|other than|rounded|or when|must also|not counting|at most|at least|no more than|whichever|per (?:day|week|month|year))\b/

/** Removes remarks in parentheses that only explain; one that may change the rule is refused. */
function withoutRemarks(reader: Reader, text: string): string {
  return text
    .replace(/ ?\(([^()]*)\)/g, (whole, remark: string, at: number) => {
      if (isGroup(text.slice(0, at))) return whole
      const parts = remark.split('; ')
      const known = parts.filter((part) => meant.test(part))
      const odd = parts.find((part) => !meant.test(part) && changing.test(part))
      if (odd !== undefined) {
        throw new Untranslatable(`the remark '${unmask(reader, odd)}' is not understood`)
      }
      if (known.length > 0) return known.map((part) => ` (${part})`).join('')
      return /^[\w.]+(?: [-+/x*] [\w.]+)+$/.test(remark) ? whole : ''
    })
    .trim()
}

/** True where parentheses after this text hold a part of the sentence: at its start, or after a word that joins. */
function isGroup(before: string): boolean {
  return /(?:^|[(,;:]|\b(?:and|or|not|if|unless|then|both|either|neither|that|when|x|plus|minus|times|by)|[-+/*<>=])\s*$/.test(
    before,
  )
}
