import type { Json, JsonSchema } from '../domain/json.ts'
import { scalarsOf } from '../domain/scalars.ts'
import type { DefinitionCheck, Place } from './check.ts'
import { atEnd } from './check.ts'
import type { Path } from './findings.ts'
import type { World } from './worlds.ts'

/**
 * Checks wording for the customer. One that cannot be filled in gives way to the built-in wording, so what may be absent
 * is no fault here. It may read nothing that is never stated, as far as the schemas tell: a sensitive value, or what the
 * ticket says. What is made of such values is held back when the reply is sent.
 */
export function checkReplyText(
  check: DefinitionCheck,
  text: string,
  path: Path,
  worlds: readonly World[],
  place: Place = atEnd,
): void {
  check.template(text, path, worlds, place, { ignored: ['unguarded-value', 'unguarded-step'] })
  const refuse = (message: string): void => check.add('unsayable-value', path, message)
  for (const { path: read, text: written } of check.parsedTemplate(text, path)?.reads ?? []) {
    const [root, ...links] = read
    if (root === 'ticket' && (links.length === 0 || links[0] === 'text')) {
      refuse(`{{${written}}} is what the ticket says, which is no fact; it is never sent`)
    } else if (root === 'input' && isSensitive(check.definition.input, links)) {
      refuse(`{{${written}}} is sensitive in the input; it is never sent`)
    } else if (root === 'steps' && links[1] === 'output') {
      const { schema, words } = sourceOf(check, links[0])
      if (!isSensitive(schema, links.slice(2))) continue
      refuse(`{{${written}}} is sensitive in ${words}; it is never sent`)
    }
  }
}

function sourceOf(
  check: DefinitionCheck,
  key: string | number | undefined,
): { readonly schema: JsonSchema | undefined; readonly words: string } {
  const step = check.table.get(`${key}`)?.step
  if (step !== undefined && 'ask' in step) return { schema: step.answer, words: 'the answer' }
  const contract = step && 'tool' in step ? check.findContract(step.tool) : undefined
  return { schema: contract?.output, words: 'the output of its tool' }
}

/** Whether a schema says of the value at a path, or of what is in a list there, that it is sensitive. */
function isSensitive(schema: JsonSchema | undefined, path: readonly (string | number)[]): boolean {
  if (schema === undefined) return false
  return [0, [0]].some((leaf: Json) => {
    // An item stands for all of its list: what follows a long list is no other schema.
    const value = path.reduceRight<Json>(
      (inner, link) => (typeof link === 'number' ? [inner] : { [link]: inner }),
      leaf,
    )
    return scalarsOf(value, schema).some((scalar) => scalar.isSensitive)
  })
}
