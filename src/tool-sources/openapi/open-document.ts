import { parse } from 'yaml'
import { type ApiDocument, documentOf } from './api-document.ts'
import { lazyYaml } from './lazy-yaml.ts'

/**
 * Opens a document of JSON or YAML.
 *
 * @throws Error that says what is wrong with the text.
 */
export function openDocument(text: string): ApiDocument {
  const source = text.replace(/^\uFEFF/, '')
  if (/^\s*[{[]/.test(source)) return documentOf(JSON.parse(source))
  return lazyYaml(source, () => documentOf(parse(source)))
}
