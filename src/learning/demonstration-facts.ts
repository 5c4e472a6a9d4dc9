import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../domain/json.ts'

/** A value that a tool has answered, as far as a summary tells it. */
export type Fact = string | number | boolean

/** Deeper ones are no facts that a condition would be about. */
const maxDepth = 3
const maxFacts = 20
const maxLength = 200

/**
 * What a summary says of an output, by the path of each value (`state`, `refund.state`). A summary is a JSON object, a list
 * of `name: value`, or prose in which exactly one word stands that the schema lists. Names that the schema does not know
 * are left out, and so is what it marks as sensitive.
 */
export function factsOf(
  summary: string,
  schema: JsonSchema | undefined,
): ReadonlyMap<string, Fact> {
  const members = isJsonObject(schema?.properties) ? schema.properties : {}
  const facts = new Map<string, Fact>()
  const add = (path: readonly string[], value: Json): void => {
    const fact = typedFact(value, pathSchema(members, path))
    const isKnown = Object.keys(members).length === 0 || pathSchema(members, path) !== undefined
    if (fact !== undefined && isKnown && facts.size < maxFacts) facts.set(path.join('.'), fact)
  }
  const object = objectIn(summary)
  if (object !== undefined) addMembers(object, [], add)
  else for (const [name, value] of pairsIn(summary)) add(name.split('.'), value)
  if (facts.size === 0) {
    for (const [name, member] of Object.entries(members)) {
      const word = onlyWord(summary, listedIn(member))
      if (word !== undefined) add([name], word)
    }
  }
  return facts
}

/** The values that a schema lists, of yes or no both; empty where any value may come. */
export function listedIn(schema: Json | undefined): readonly Fact[] {
  if (!isJsonObject(schema)) return []
  if (schema.type === 'boolean') return [true, false]
  const listed = Array.isArray(schema.enum) ? schema.enum : []
  return listed.filter((one) => typeof one === 'string')
}

function objectIn(summary: string): JsonObject | undefined {
  if (!/^\s*\{/.test(summary)) return undefined
  try {
    const value: Json = JSON.parse(summary)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function addMembers(
  object: JsonObject,
  path: readonly string[],
  add: (path: readonly string[], value: Json) => void,
): void {
  for (const [name, value] of Object.entries(object)) {
    if (!/^[A-Za-z_]\w*$/.test(name)) continue
    if (!isJsonObject(value)) add([...path, name], value)
    else if (path.length + 1 < maxDepth) addMembers(value, [...path, name], add)
  }
}

/** The pairs of `state: failed, amount: 49.00 USD`. A comma ends a value where another name follows. */
function pairsIn(summary: string): readonly (readonly [name: string, value: string])[] {
  const labels = [...summary.matchAll(/(?:^|[,;\n])\s*([A-Za-z_][\w.]{0,63})\s*[:=]\s?/g)]
  return labels.map((label, at) => {
    const end = labels[at + 1]?.index ?? summary.length
    return [label[1] ?? '', summary.slice(label.index + label[0].length, end).trim()] as const
  })
}

function onlyWord(summary: string, words: readonly Fact[]): Fact | undefined {
  const tokens = new Set(summary.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [])
  const found = words.filter((word) => typeof word === 'string' && tokens.has(word.toLowerCase()))
  return found.length === 1 ? found[0] : undefined
}

function pathSchema(members: JsonObject, path: readonly string[]): JsonObject | undefined {
  let found: Json | undefined = { properties: members }
  for (const name of path) {
    const within: Json | undefined = isJsonObject(found) ? found.properties : undefined
    found = isJsonObject(within) && Object.hasOwn(within, name) ? within[name] : undefined
  }
  return isJsonObject(found) ? found : undefined
}

/** A value as the schema has it, where it has it; else as it reads. */
function typedFact(value: Json, schema: JsonObject | undefined): Fact | undefined {
  if (schema?.sensitive === true || value === null || typeof value === 'object') return undefined
  if (typeof value !== 'string') return value
  if (value === '' || value === 'null' || value.length > maxLength) return undefined
  const types = [schema?.type].flat()
  const isText = schema !== undefined && types.includes('string')
  if (isText) return value
  if (value === 'true' || value === 'false') return value === 'true'
  const isNumber = /^-?\d{1,15}(\.\d{1,15})?$/.test(value)
  return isNumber ? Number(value) : schema === undefined ? value : undefined
}
