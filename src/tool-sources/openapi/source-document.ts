import { readFile } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { ServiceError } from '../../domain/errors.ts'
import { type Problem, pathText } from '../../domain/problem.ts'
import { expectation } from '../../domain/zod-problems.ts'
import { createOutbound, type Outbound } from '../../outbound/create-outbound.ts'
import { hostList } from '../../outbound/host-list.ts'
import type { OpenapiSource } from '../source-shape.ts'
import type { ApiDocument } from './api-document.ts'
import { openDocument } from './open-document.ts'

const maxDocumentBytes = 20 * 1024 * 1024
const documentTimeoutMs = 20_000

/**
 * Reads the document of a source: a file beside the configuration, or from a URL. Undefined when it cannot be read; the
 * problem says why.
 *
 * @throws ServiceError `SOURCE_UNAVAILABLE` when the URL cannot be asked now.
 */
export async function readSourceDocument(
  { name, openapi, allowPrivate = [] }: OpenapiSource,
  folder: string,
  refuse: (message: string) => void,
): Promise<ApiDocument | undefined> {
  const isUrl = /^https?:\/\//i.test(openapi)
  const text = isUrl
    ? await fetchText(name, openapi, allowPrivate)
    : await readText(isAbsolute(openapi) ? openapi : resolve(folder, openapi), refuse)
  if (text === undefined) return undefined
  try {
    const document = openDocument(text)
    const version = document.at(['openapi'])
    if (typeof version === 'string' && /^3\.[01]\./.test(version)) return document
    const found = version ?? document.at(['swagger'])
    refuse(expectation(found, 'a document of OpenAPI 3.0 or 3.1, which says so under openapi'))
  } catch (error) {
    refuse(`the document cannot be read: ${error instanceof Error ? error.message : error}`)
  }
  return undefined
}

async function readText(
  path: string,
  refuse: (message: string) => void,
): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    refuse(`the document cannot be read: ${error instanceof Error ? error.message : error}`)
    return undefined
  }
}

async function fetchText(
  source: string,
  url: string,
  allowPrivate: readonly string[],
): Promise<string> {
  const limits = { timeoutMs: documentTimeoutMs, maxBytes: maxDocumentBytes }
  const outbound: Outbound = createOutbound({ allowPrivate, ...limits })
  const unavailable = (problem: string, cause?: unknown) =>
    new ServiceError('SOURCE_UNAVAILABLE', { source, problem }, { cause })
  try {
    // Without credentials: they are meant for the service, and this may be another.
    const { status, body } = await outbound.send({ url, method: 'GET', redirects: 3 })
    if (status === 200) return body.toString()
    throw unavailable(`its document was answered with status ${status}`)
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw unavailable(error instanceof Error ? error.message : String(error), error)
  } finally {
    await outbound.close()
  }
}

/**
 * The server that operations are asked at: the one of the configuration, else the first of the document. Undefined when
 * there is none that may be asked; the problem says why.
 */
export function serverOf(
  source: OpenapiSource,
  document: ApiDocument,
  path: readonly (string | number)[],
  problems: Problem[],
): string | undefined {
  const { server, openapi, hosts, allowPrivate = [] } = source
  const at = pathText([...path, server === undefined ? 'openapi' : 'server'])
  const refuse = (message: string) => {
    problems.push({ path: at, message })
    return undefined
  }
  const declared = server ?? firstServer(document)
  if (declared === undefined) {
    return refuse("the document names no server; say under 'server' where its operations are")
  }
  const base = /^https?:/i.test(openapi) ? openapi : undefined
  if (!URL.canParse(declared, base)) {
    return refuse(`the server '${declared}' is no whole URL; say under 'server' where it is`)
  }
  const url = new URL(declared, base)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return refuse('the server has a user, a password, a query or a fragment in its URL')
  }
  if (hosts !== undefined && !hostList(hosts).includes(url)) {
    return refuse(`${url.host} is none of 'hosts': ${hosts.join(', ')}`)
  }
  if (url.protocol !== 'https:' && !hostList(allowPrivate).includes(url)) {
    return refuse(
      `${url.origin} is not asked without TLS, unless ${url.host} stands in 'allowPrivate'`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

/** The first server of a document, its variables at their defaults. */
function firstServer(document: ApiDocument): string | undefined {
  const [first] = [document.at(['servers'])].flat()
  const { url, variables } = Object(first)
  if (typeof url !== 'string') return undefined
  return url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const standard: unknown = Object(Object(variables)[name]).default
    return typeof standard === 'string' ? standard : whole
  })
}
