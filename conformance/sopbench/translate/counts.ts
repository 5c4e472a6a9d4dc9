import { findCollection } from './collections.ts'
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
  const whose = filteredPhrase(phrase)
  if (whose !== undefined) {
    const { cel, guards } = collected(reader, whose.noun, whose.test)
    return numberTerm(`size(${cel})`, guards)
  }
  const requested = phrase.replace(/^(?:requested|asked|given|supplied|wanted|chosen) /, '')
  const input = scope.check.inputs.find(
    (name) => wordsOf(name).join() === wordsOf(requested).join(),
  )
  if (input !== undefined) {
    const term = scope.input(input)
    if (term.shape.kinds.has('list')) return numberTerm(`size(${term.cel})`, term.guards)
  }
  const { list } = findCollection(scope, phrase)
  return numberTerm(`size(${list.cel})`, list.guards)
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

/** `claims whose status is «0»`: the noun, and what must hold of each. */
function filteredPhrase(phrase: string): { noun: string; test: string } | undefined {
  const found =
    /^(.+?) (whose|where|that are|that is|that have|which are|which have|that|which|with (?:a |an |the )?(?=\S+ (?:is|=|<|>|«|\d|of at least))) ?(.+)$/.exec(
      phrase,
    )
  if (found === null) return undefined
  const [, noun = '', link = '', rest = ''] = found
  if (link === 'that are' || link === 'which are' || link === 'that is')
    return { noun, test: `it is ${rest}` }
  if (link === 'that have' || link === 'which have') return { noun, test: `it has ${rest}` }
  return { noun, test: link === 'that' || link === 'which' ? `it ${rest}` : rest }
}

/** Sums, largest and smallest. */
export function findAggregate(reader: Reader, text: string): Term | undefined {
  const parts =
    /^(sum|total|average|mean|largest|smallest|highest|lowest|maximum|minimum|latest|earliest)(?: of)? (.+?) (?:over|of|in|among|across|for) (?:all |every |the )?(.+)$/.exec(
      text,
    )
  if (parts === null) return undefined
  const [, kind = '', value = '', phrase = ''] = parts
  const whose = filteredPhrase(phrase) ?? { noun: phrase, test: '' }
  const { cel, guards, item } = collected(reader, whose.noun, whose.test)
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
