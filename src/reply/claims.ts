import { isJsonObject, type Json } from '../domain/json.ts'
import { scalarsOf } from '../domain/scalars.ts'
import type { ToolContract } from '../domain/tool.ts'
import { wordsOf } from './fact-label.ts'
import { findLaterWrites, type ToolCall } from './tool-call.ts'

/** What may be said of a tool, and whether the run bears it out. */
export interface Claim {
  /** The one sentence that says it: "A refund was issued." */
  readonly sentence: string
  readonly tool: string
  readonly isSupported: boolean
}

/**
 * The claims of the tools. One is supported when every call of its tool completed and says so itself (`issued: true` for
 * "a refund was issued", and nothing in the output that says no), and no later write of another tool may have undone it.
 */
export function claimsOf(
  contracts: readonly Pick<ToolContract, 'name' | 'claims'>[],
  calls: readonly ToolCall[],
): readonly Claim[] {
  const laterWrites = findLaterWrites(calls)
  return contracts.flatMap(({ name, claims }) => {
    const own = calls.filter(({ tool }) => tool === name)
    const stands =
      own.length > 0 && own.every((call) => laterWrites(call).every(({ tool }) => tool === name))
    return claims.map((text): Claim => {
      const isSupported = stands && own.every((call) => bearsOut(call, text))
      return { sentence: sentenceOf(text), tool: name, isSupported }
    })
  })
}

/**
 * Whether an output says of its own call that it did not do its work: a no anywhere in it, or a word such as `declined`
 * or `error` as a name or a state. `isMeant` tells which words say what the call was to do.
 */
export function saysNo(output: Json, isMeant: (word: string) => boolean = () => false): boolean {
  const denies = (text: string): boolean =>
    looseWords(text).some((word) => noWord.test(word) && !isMeant(word))
  return scalarsOf(output, {}).some(
    ({ path, value }) =>
      value === false ||
      (typeof value === 'string' && !/\s/.test(value) && denies(value)) ||
      (value !== null && path.some((link) => typeof link === 'string' && denies(link))),
  )
}

const noWord =
  /^(?:no|non|none|not|abort.*|cancel.*|declin.*|den(?:y|ied|ial)|err|errors?|expir.*|fail.*|invalid.*|refus.*|reject.*|revers.*|unknown|unsuccess.*|void.*)$/

/** The act of a claim stands after its verb: "a refund was issued". A claim of another form is never borne out. */
function bearsOut({ result, output }: ToolCall, claim: string): boolean {
  const words = looseWords(claim)
  const [, act] = /\b(?:was|were|is|are|has been|have been) ([a-z]+)/.exec(words.join(' ')) ?? []
  if (result !== 'done' || act === undefined || !isJsonObject(output)) return false
  const saysYes = Object.entries(output).some(([name, value]) => {
    const own = wordsOf(name) ?? []
    return value === true && own.includes(act) && own.every((word) => words.includes(word))
  })
  return saysYes && !saysNo(output, (word) => word === act)
}

function looseWords(text: string): readonly string[] {
  const apart = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return apart.match(/[a-z]+/g) ?? []
}

/** As the contract says it. It speaks of "the customer", and a reply to the customer. */
function sentenceOf(claim: string): string {
  const text = claim.trim().replace(/^the customer was /i, 'you were ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
