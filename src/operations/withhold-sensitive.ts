import type { TenantDb } from '../db/connect.ts'
import { listSensitiveInputs } from '../db/queries/embeddings.ts'
import { isJsonObject, type Json, setMember } from '../domain/json.ts'
import { sensitiveInText } from '../domain/sensitive-text.ts'
import { sensitiveText } from '../domain/sensitive-value.ts'
import { withhold } from '../reply/withhold.ts'

/**
 * What takes out of texts and values whatever fits a pattern of what any of the tenant's playbooks marks as sensitive:
 * what an agent has seen is of no playbook that is known.
 */
export async function openWithholding(db: TenantDb): Promise<{
  readonly text: (text: string) => string
  readonly value: (value: Json) => Json
}> {
  const schemas = await listSensitiveInputs(db)
  const withoutSensitive = (text: string): string => {
    let rest = text
    // Each look sees the first part of what is left of a long text.
    for (const part of partsOf(text)) {
      const found = schemas.flatMap((schema) => sensitiveInText(schema, part))
      if (found.length > 0) rest = withhold(rest, found, sensitiveText)
    }
    return rest
  }
  const value = (given: Json): Json => {
    if (typeof given === 'string') return withoutSensitive(given)
    if (typeof given === 'number') {
      const text = withoutSensitive(String(given))
      return text === String(given) ? given : text
    }
    if (isList(given)) return given.map(value)
    if (!isJsonObject(given)) return given
    const shown: Record<string, Json> = {}
    for (const [name, member] of Object.entries(given)) {
      setMember(shown, withoutSensitive(name), value(member))
    }
    return shown
  }
  if (schemas.length === 0) return { text: (text) => text, value: (given) => given }
  return { text: withoutSensitive, value }
}

const partLength = 20_000
/** What lies across the border of two parts stands whole in one of them. */
const overlap = 500

function* partsOf(text: string): Generator<string> {
  for (let start = 0; start === 0 || start + overlap < text.length; start += partLength - overlap) {
    yield text.slice(start, start + partLength)
  }
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
