import { ServiceError } from '../domain/errors.ts'
import { findRepeatedName } from '../domain/repeated-name.ts'

/** The largest body, in bytes: room for a definition with its text and all its scenarios. */
export const maxBodyBytes = 2 * 1024 * 1024
/** The deepest nesting of objects and lists. What is deeper is refused before anything walks it. */
const maxDepth = 100

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the bytes of a JSON body with `parse`.
 *
 * @throws ServiceError `HTTP_INVALID` for bytes that are no UTF-8, no JSON, nested too deep, or name `__proto__`, or that
 *   name something twice in one object.
 */
export function readJsonBody(bytes: Buffer, parse: (text: string) => unknown): unknown {
  // A client that sends its content type with everything sends it with nothing, too.
  if (bytes.length === 0) return undefined
  const text = decode(bytes)
  if (depthOf(text) > maxDepth) throw invalid(`is nested deeper than ${maxDepth} levels`)
  const value = parsed(text, parse)
  const repeated = findRepeatedName(text)
  if (repeated !== undefined) {
    throw invalid(`has ${JSON.stringify(repeated.slice(0, 80))} twice in one object; give it once`)
  }
  return value
}

function parsed(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text)
  } catch (error) {
    throw invalid(`is no JSON that is taken: ${error instanceof Error ? error.message : ''}`, error)
  }
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw invalid('is not UTF-8', error)
  }
}

/** How deep the brackets of a JSON text go, those in strings left out. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let isInString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (isInString) {
      if (code === 92) at += 1
      else if (code === 34) isInString = false
    } else if (code === 34) isInString = true
    else if (code === 91 || code === 123) deepest = Math.max(deepest, ++depth)
    else if (code === 93 || code === 125) depth -= 1
  }
  return deepest
}

function invalid(message: string, cause?: unknown): ServiceError {
  return new ServiceError('HTTP_INVALID', { problems: [{ path: 'body', message }] }, { cause })
}
