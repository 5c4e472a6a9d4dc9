import { findListValue } from './lists.ts'
import { findFieldOf, nameWords } from './nouns.ts'
import { wordsOf } from './phrase.ts'
import { collected, dividedGuards, inItem } from './quantifiers.ts'
import type { RuleScope } from './scope.ts'
import { isTime, moment, numberTerm, operand, type Term } from './term.ts'
import { type Reader, readValue } from './values.ts'

export function findCount(reader: Reader, text: string): Term | undefined {
  const { scope } = reader
  const shared = /^number of (.+?) (?:required|needed|listed|shared) by both (.+) and (.+)$/.exec(
    text,
  )
  if (shared !== null) {
    const verb = /(required|needed|listed|shared) by both/.exec(text)?.[1]
    const field = `${verb === 'shared' ? '' : verb} ${shared[1]}`
    const [a, b] = [shared[2], shared[3]].map((owner) => findFieldOf(scope, field, owner ?? ''))
    if (a === undefined || b === undefined) return undefined
    const cel = `size(${a.cel}.filter(x, x in ${b.cel}))`
    return numberTerm(cel, [...a.guards, ...b.guards])
  }
  const counted = /^(?:number|count|total number) (?:of )?(.+)$/.exec(text)
  if (counted === null) return undefined
  const phrase = counted[1] ?? ''
  const known = countedBy(scope, phrase)
  if (known !== undefined) return known
  const requested = phrase.replace(/^(?:requested|asked|given|supplied|wanted|chosen) /, '')
  const input = scope.check.inputs.find(
    (name) => wordsOf(name).join() === wordsOf(requested).join(),
  )
  if (input !== undefined) {
    const term = scope.input(input)
    if (term.shape.kinds.has('list')) return numberTerm(`size(${term.cel})`, term.guards)
  }
  const distinct = /^(?:different|distinct|unique) (.+?) (?:of|in|among|over) (.+)$/.exec(phrase)
  if (distinct !== null) {
    const { cel, guards, item } = collected(reader, distinct[2] ?? '', '')
    const each = inItem(reader, item, () => readValue(reader, distinct[1] ?? ''))
    if (each.guards.length > 0) return undefined
    return numberTerm(`size(distinct(${operand(cel)}.map(${item.name}, ${each.cel})))`, guards)
  }
  const { cel, guards } = collected(reader, phrase, '')
  return numberTerm(`size(${cel})`, guards)
}

/** A tool that answers the number itself. */
function countedBy(scope: RuleScope, phrase: string): Term | undefined {
  const words = wordsOf(phrase)
  const keyed = (name: readonly string[], args: readonly string[]) => {
    const ofArgs = args.flatMap((cel) => wordsOf(cel.split('.').at(-1) ?? ''))
    return (
      name.every((word) => words.includes(word)) &&
      words.every((word) => name.includes(word) || ofArgs.includes(word))
    )
  }
  const found = scope.sources().filter((source) => {
    const isNumber = source.output.shape.kinds.has('number')
    return isNumber && nameWords(source).some((name) => keyed(name, source.args))
  })
  return found.length === 1 ? found[0]?.output : undefined
}

/** Sums, largest and smallest. */
export function findAggregate(reader: Reader, text: string): Term | undefined {
  const parts =
    /^(sum|total|average|mean|largest|smallest|highest|lowest|maximum|minimum|latest|earliest)(?: of)? (.+?) (?:over|of|in|among|across|for) (?:all |every |the )?(.+)$/.exec(
      text,
    )
  if (parts === null) return findOfNumbers(reader, text)
  const [, kind = '', value = '', phrase = ''] = parts
  const { cel, guards, item } = collected(reader, phrase, '')
  const each = inItem(reader, item, () => readValue(reader, value))
  const { inside, before } = dividedGuards(each, item)
  // What cannot be read of one item cannot be left out of a sum.
  const readable =
    inside.length === 0 ? [] : [`${operand(cel)}.all(${item.name}, ${inside.join(' && ')})`]
  const own = [...before, ...readable]
  const name = /sum|total|average|mean/.test(kind)
    ? 'sum'
    : /larg|high|max|lat/.test(kind)
      ? 'max'
      : 'min'
  const body = each.shape.format !== undefined && isTime(each) ? moment(each).cel : each.cel
  const result = `${name}(${operand(cel)}.map(${item.name}, ${body}))`
  const isMean = /average|mean/.test(kind)
  return numberTerm(isMean ? `${result} / size(${cel})` : result, [
    ...guards,
    ...own,
    ...(isMean ? [`size(${cel}) > 0`] : []),
  ])
}

const aggregates: { readonly [word: string]: (cel: string) => string } = {
  sum: (cel) => `sum(${cel})`,
  total: (cel) => `sum(${cel})`,
  largest: (cel) => `max(${cel})`,
  highest: (cel) => `max(${cel})`,
  maximum: (cel) => `max(${cel})`,
  smallest: (cel) => `min(${cel})`,
  lowest: (cel) => `min(${cel})`,
  minimum: (cel) => `min(${cel})`,
  average: (cel) => `sum(${cel}) / size(${cel})`,
  mean: (cel) => `sum(${cel}) / size(${cel})`,
}

/** `sum of bags`: of a list of numbers. */
function findOfNumbers(reader: Reader, text: string): Term | undefined {
  const [, word = '', phrase = ''] = /^(\w+) (?:of )?(?:all |the )*([\w. ]+)$/.exec(text) ?? []
  const write = Object.hasOwn(aggregates, word) ? aggregates[word] : undefined
  const list = write === undefined ? undefined : findListValue(reader, phrase)
  if (write === undefined || !list?.shape.item?.kinds.has('number')) return undefined
  const isEmpty = word !== 'sum' && word !== 'total'
  const guards = isEmpty ? [...list.guards, `size(${list.cel}) > 0`] : list.guards
  return numberTerm(write(list.cel), guards)
}
