import { findOwnedRecord, only } from './nouns.ts'
import { withoutArticle, wordsOf } from './phrase.ts'
import { fieldGuard } from './scope.ts'
import { isTime, type Term } from './term.ts'
import { findValue, type Reader } from './values.ts'

export function isRecord({ shape }: Term): boolean {
  return shape.kinds.has('object') && !shape.isMap
}

/** The record that a phrase names: `it`, what a tool answers, or that of the customer whom the rule is about. */
export function recordNamed(reader: Reader, phrase: string): Term | undefined {
  const { scope } = reader
  const name = withoutArticle(phrase)
  const item = scope.items.at(-1)
  if (item !== undefined && (name === 'it' || wordsOf(name).join() === item.words.join())) {
    return item.record ?? item.keyed
  }
  const value = findValue(reader, name)
  if (value !== undefined && isRecord(value)) return value
  const answers = scope
    .sources()
    .filter(({ args }) => value !== undefined && args.at(-1) === value.cel)
  return only(answers.map(({ output }) => output).filter(isRecord)) ?? findOwnedRecord(scope, name)
}

/** The fields of a record, records inside it left out. */
export function fieldsOf(record: Term): readonly { readonly name: string; readonly term: Term }[] {
  if (record.shape.isMap) return []
  return [...record.shape.fields].map(([name, field]) => {
    const cel = `${record.cel}.${name}`
    const guards = [...record.guards, ...fieldGuard(cel, field)]
    return { name, term: { cel, shape: field.shape, guards } }
  })
}

/** The one time of a record of whose name one word fits. */
export function timesLike(record: Term, pattern: RegExp): Term | undefined {
  const fitting = fieldsOf(record).filter(
    ({ name, term }) => isTime(term) && wordsOf(name).some((word) => pattern.test(word)),
  )
  return only(fitting.map(({ term }) => term))
}
