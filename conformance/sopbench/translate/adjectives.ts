import { sameWords, wordsOf } from './phrase.ts'
import { fieldsOf, isRecord } from './records.ts'
import { type Condition, quote, type Term } from './term.ts'

/**
 * What an adjective says of a record: that its field of that name is true (`suspended`), or not (`unpaid`), or that one
 * field of it is the text (`pending`) that was seen there. Undefined when no field, or more than one, could be meant.
 */
export function readAdjective(record: Term, adjective: string): Condition | undefined {
  if (!isRecord(record)) return undefined
  const words = wordsOf(adjective.replaceAll('-', ' '))
  const fields = fieldsOf(record)
  const flags = fields.flatMap(({ name, term }) => {
    if (!term.shape.kinds.has('boolean')) return []
    const named = wordsOf(name).filter((word) => word !== 'is' && word !== 'has')
    if (sameWords(named, words)) return [{ cel: term.cel, guards: term.guards }]
    const isOpposite = [`un${named.join(' ')}`, `in${named.join(' ')}`, `non ${named.join(' ')}`]
    return isOpposite.includes(words.join(' '))
      ? [{ cel: `!${term.cel}`, guards: term.guards }]
      : []
  })
  if (flags.length > 0) return flags.length === 1 ? flags[0] : undefined
  const states = fields.flatMap(({ term }) => {
    const seen = term.shape.texts.filter((text) => sameWords(wordsOf(text), words))
    const [text] = seen
    if (text === undefined || seen.length > 1) return []
    return [{ cel: `${term.cel} == ${quote(text)}`, guards: term.guards }]
  })
  return states.length === 1 ? states[0] : undefined
}
