import type { LinkPath } from '../domain/expression/reads.ts'
import { isRoot } from '../domain/expression/scope.ts'
import { type ScopeTypes, typeOfRoot } from '../domain/expression/scope-types.ts'
import { anyType, membersOf, type Type, unionOf } from '../domain/expression/type.ts'

/**
 * What a value can be, as far as conditions tell it apart: `"open"`, `5` and `true` stand for themselves, `null` and
 * `absent` for what they say, and `*` for all else.
 */
export type Tokens = readonly string[]

export const nullToken = 'null'
const absentToken = 'absent'
export const otherToken = '*'

/** The token that says: one of all else, but not this. It stands beside `*` alone. */
export function excluded(token: string): string {
  return `!${token}`
}

export function isExclusion(token: string): boolean {
  return token.startsWith('!')
}

export function isNothing(token: string): boolean {
  return token === nullToken || token === absentToken
}

export const trueToken = 'true'
export const falseToken = 'false'
/** What a condition can be. */
export const truthTokens: Tokens = [falseToken, trueToken]

/** More texts than these are not told apart. */
const maxTexts = 100

/** The token of a value that is written out. */
export function tokenOf(value: string | number | boolean | null): string {
  return JSON.stringify(value)
}

/** All that the value at a path can be by its type, sorted. */
export function domainOf(path: LinkPath, types: ScopeTypes): Tokens {
  const { type, isOptional } = typeAt(path, types)
  const tokens = new Set(isOptional ? [absentToken] : [])
  for (const member of membersOf(type)) for (const token of tokensOfType(member)) tokens.add(token)
  return [...tokens].sort()
}

function tokensOfType(type: Type): Tokens {
  switch (type.kind) {
    case 'any':
      return [otherToken, nullToken, absentToken]
    case 'null':
      return [nullToken]
    case 'boolean':
      return truthTokens
    case 'string':
      return type.values === undefined || type.values.length > maxTexts
        ? [otherToken]
        : type.values.map(tokenOf)
    default:
      return [otherToken]
  }
}

/** The type at a path, and whether a link on the way may be absent or null. A status makes no link optional here. */
function typeAt(
  [root, ...links]: LinkPath,
  types: ScopeTypes,
): { readonly type: Type; readonly isOptional: boolean } {
  let type: Type =
    typeof root === 'string' && isRoot(root) ? (typeOfRoot(root, types) ?? anyType) : anyType
  let isOptional = false
  for (const link of links) {
    const members = membersOf(type)
    const found = members.flatMap((member): readonly Type[] => {
      if (member.kind === 'any') return [anyType]
      if (member.kind === 'list') return typeof link === 'number' ? [member.of] : []
      if (member.kind !== 'object') return []
      const field = member.fields.get(String(link))
      if (field?.optional !== false) isOptional = true
      const rest = field?.type ?? member.rest
      return rest === undefined ? [] : [rest]
    })
    if (typeof link === 'number' || found.length < members.length) isOptional = true
    if (found.length === 0) return { type: anyType, isOptional }
    type = unionOf(found)
  }
  return { type, isOptional }
}
