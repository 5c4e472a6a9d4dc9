import { Document, visit } from 'yaml'
import type { Definition } from '../domain/definition.ts'
import type { Json } from '../domain/json.ts'

/**
 * Writes a value as YAML that `readDocument` reads back as the same value: block style, keys in the order given, no
 * anchors. The same value in the same key order always gives the same text.
 */
export function writeDocument(value: Json | Definition): string {
  const document = new Document(value, {
    version: '1.2',
    schema: 'core',
    aliasDuplicateObjects: false,
  })
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && mustBeQuoted(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0, blockQuote: 'literal' })
}

/**
 * Texts that would be read as something else when they stand bare: a merge key, invisible characters, and texts of
 * several lines whose first or last lines are blank or begin with blanks, which the block style does not keep.
 */
function mustBeQuoted(text: string): boolean {
  if (text === '<<') return true
  if (/[\p{Cc}\u2028\u2029\uFEFF]/u.test(text.replaceAll('\n', ''))) return true
  return text.includes('\n') && (/^\s/.test(text) || /\s\s$|[^\n\S]$/.test(text))
}
