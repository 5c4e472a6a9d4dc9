import type { DefinitionCheck } from './checks.ts'
import type { Json, JsonSchema } from './json.ts'
import { scalarsOf } from './scalars.ts'
import { type Step, walkSteps } from './step.ts'
import { parseTemplate } from './template.ts'

/**
 * Checks that a reply reads nothing that may never be stated, as far as the schemas tell: a sensitive value, or what the
 * ticket says. What is made of such values is held back when the reply is sent.
 */
export function checkReply(check: DefinitionCheck, outcome: string, text: string): void {
  const parsed = parseTemplate(text)
  if ('problems' in parsed) return
  const refuse = (message: string): void => {
    check.add('unsayable-value', 'error', ['replies', outcome], message)
  }
  for (const { path, text: written } of parsed.template.reads) {
    const [root, ...links] = path
    if (root === 'ticket' && (links.length === 0 || links[0] === 'text')) {
      refuse(`{{${written}}} is what the ticket says, which is no fact; it is never sent`)
    } else if (root === 'input' && isSensitive(check.definition.input, links)) {
      refuse(`{{${written}}} is sensitive in the input; it is never sent`)
    } else if (root === 'steps' && links[1] === 'output') {
      const step = findStep(check.definition.steps, links[0])
      const contract = step && 'tool' in step ? check.findContract(step.tool) : undefined
      if (!isSensitive(contract?.output, links.slice(2))) continue
      refuse(`{{${written}}} is sensitive in the output of its tool; it is never sent`)
    }
  }
}

function findStep(steps: readonly Step[], key: string | number | undefined): Step | undefined {
  return [...walkSteps(steps)].find((step) => step.key === key)
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
