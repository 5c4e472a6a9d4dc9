import type { Fact } from './facts.ts'
import { plainSpace } from './phrases.ts'

/** THE|YOUR label [OF|FOR [YOUR|THE] thing ID] IS value [unit]. No label has a word of the form in it. */
const clausePattern =
  /^(?:the|your) ([a-z ]+?)(?: (?:of|for)(?: the| your)? ([a-z ]+) \[\[(f\d+)\]\])? is \[\[(f\d+)\]\](?: ([a-z ]+))?$/i

/**
 * What is wrong with a sentence that shows facts; undefined when each value stands where its name says. There is one
 * form, and nothing stands in it but names and values: "The refund eta for your transaction [[f1]] is [[f2]] business
 * days and the refund state is [[f3]]." The id is the one that the value was looked up with, and "and" joins values of
 * one call.
 */
export function findFactFlaw(text: string, facts: readonly Fact[]): string | undefined {
  const [, statement = ''] = /^(.*)[.!]$/.exec(plainSpace(text)) ?? []
  const clauses = statement.split(' and ').map((clause) => clausePattern.exec(clause))
  const shown: Fact[] = []
  let isPlaced = false
  for (const match of clauses) {
    const fact = facts.find(({ mark }) => mark === match?.[4])
    if (match === null || fact === undefined) return 'shows facts in another form than the one'
    const [, label = '', thing, idMark, , unit = ''] = match
    if (label.toLowerCase() !== fact.label.words.join(' ')) {
      return `does not name ${fact.mark} by the words of its name and no others`
    }
    if (unit.toLowerCase() !== unitOf(fact))
      return `does not give ${fact.mark} its unit and no more`
    if (idMark !== undefined) {
      const id = facts.find(({ mark }) => mark === idMark)
      if (!fact.places.includes(idMark) || thing?.toLowerCase() !== id?.thing?.join(' ')) {
        return `says of ${idMark} what was not looked up for it`
      }
      isPlaced = true
    }
    shown.push(fact)
  }
  if (shown.some(({ stepKey }) => stepKey !== shown[0]?.stepKey)) {
    return 'joins values of different calls'
  }
  if (!isPlaced && shown.some(({ mustBePlaced }) => mustBePlaced)) {
    return 'does not say which id its values belong to'
  }
  return undefined
}

/** A sentence that may show a fact, as an example for a model. */
export function exampleSentence(fact: Fact, facts: readonly Fact[]): string {
  const id = facts.find(({ mark }) => mark === fact.places[0])
  const place = id?.thing ? ` for your ${id.thing.join(' ')} [[${id.mark}]]` : ''
  const unit = unitOf(fact)
  const end = `is [[${fact.mark}]]${unit === '' ? '' : ` ${unit}`}.`
  return `The ${fact.label.words.join(' ')}${fact.mustBePlaced ? place : ''} ${end}`
}

function unitOf({ label, value }: Fact): string {
  const unit = label.unit.join(' ')
  return value === 1 ? unit.replace(/s$/, '') : unit
}
