import { isJsonObject, type Json } from '../domain/json.ts'
import type { ToolContract } from '../domain/tool.ts'
import { wordsOf } from './fact-label.ts'

/** A tool that a version pinned, with the outputs of its calls that completed. */
export interface ToolRecord {
  readonly contract: Pick<ToolContract, 'name' | 'claims' | 'states'>
  readonly outputs: readonly Json[]
}

/** What may be said of a tool, and whether the run bears it out. */
export interface Claim {
  /** As the contract says it: "a refund was issued". */
  readonly text: string
  readonly tool: string
  /** The words that carry it, in their order: refund, issued. */
  readonly keyWords: readonly string[]
  readonly isSupported: boolean
}

/** Words that carry no claim by themselves; a claim may be worded with them. */
const glue = new Set('a an the we have has been your is are was were this our now'.split(' '))

/**
 * The claims of the tools. One is supported when a call of its tool completed, and no output of such a call says no
 * under the claim's own words: `issued: false` does not bear out "a refund was issued".
 */
export function claimsOf(tools: readonly ToolRecord[]): readonly Claim[] {
  return tools.flatMap(({ contract, outputs }) =>
    contract.claims.map((text): Claim => {
      const keyWords = keyWordsOf(text)
      const isDenied = outputs.some((output) =>
        Object.entries(isJsonObject(output) ? output : {}).some(
          ([name, value]) =>
            value === false && wordsOf(name).some((word) => keyWords.includes(word)),
        ),
      )
      const isSupported = outputs.length > 0 && !isDenied && keyWords.length > 0
      return { text, tool: contract.name, keyWords, isSupported }
    }),
  )
}

/**
 * Whether a sentence says this claim and nothing else: all its key words, and no other word but glue. Two key words may
 * stand in either order ("a refund was issued", "we have issued your refund"); three or more keep theirs.
 */
export function saysClaim(words: readonly string[], { keyWords }: Claim): boolean {
  const said = words.map(addressed).filter((word) => keyWords.includes(word) || !glue.has(word))
  if (said.length !== keyWords.length) return false
  const inOrder = said.every((word, index) => word === keyWords[index])
  return inOrder || (keyWords.length === 2 && said[0] === keyWords[1] && said[1] === keyWords[0])
}

/** Whether a sentence has every word of a claim, whatever else it says. */
export function touchesClaim(words: readonly string[], { keyWords }: Claim): boolean {
  const said = new Set(words.map(addressed))
  return keyWords.length > 0 && keyWords.every((word) => said.has(word))
}

function keyWordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? []
  return [...new Set(words.map(addressed))].filter((word) => !glue.has(word))
}

/** A contract speaks of "the customer", and a reply to "you". */
function addressed(word: string): string {
  return word === 'you' ? 'customer' : word
}
