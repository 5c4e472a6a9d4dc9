import { findSecret, type Secret } from '../config/secret.ts'
import { type Problem, pathText } from '../domain/problem.ts'
import type { DeclaredCredentials } from './source-shape.ts'

type Path = readonly (string | number)[]

/** Finds what the variables of the environment hold, and says of those that are not set where they are asked for. */
export interface SecretReader {
  /** Undefined when it is not set; that is a problem then. */
  readonly read: (variable: string, path: Path) => Secret | undefined
  /** Everything that was read. */
  readonly secrets: readonly Secret[]
}

export function createSecretReader(problems: Problem[]): SecretReader {
  const secrets: Secret[] = []
  return {
    secrets,
    read(variable, path) {
      const secret = findSecret(variable)
      if (secret === undefined) {
        const message = `the environment has no ${variable}; set it where the service runs`
        problems.push({ path: pathText([...path, 'secret']), message })
      } else secrets.push(secret)
      return secret
    },
  }
}

/** What a request shows of who asks. */
export interface Credentials {
  readonly headers: Readonly<Record<string, Secret>>
  readonly query: Readonly<Record<string, Secret>>
}

export function readCredentials(
  declared: DeclaredCredentials = {},
  reader: SecretReader,
  path: Path,
): Credentials {
  const { bearer, header, query } = declared
  const token = bearer && reader.read(bearer.secret, [...path, 'bearer'])
  const ofHeader = header && reader.read(header.secret, [...path, 'header'])
  const ofQuery = query && reader.read(query.secret, [...path, 'query'])
  return {
    headers: {
      ...(token && { authorization: token }),
      ...(header && ofHeader && { [header.name.toLowerCase()]: ofHeader }),
    },
    query: { ...(query && ofQuery && { [query.name]: ofQuery }) },
  }
}

/** The headers of credentials as they are sent. */
export function revealedHeaders(credentials: Credentials): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(credentials.headers).map(([name, secret]) => [
      name,
      name === 'authorization' ? `Bearer ${secret.reveal()}` : secret.reveal(),
    ]),
  )
}

/** Takes secrets out of a text from outside: a service may answer with what it was sent. */
export type Mask = (text: string) => string

/** Shorter ones would be found in any text. */
const minMaskedLength = 6

export function maskOf(secrets: readonly Secret[]): Mask {
  const values = secrets
    .map((secret) => secret.reveal())
    .filter((value) => value.length >= minMaskedLength)
    .flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)])
  const spellings = [...new Set(values)]
  return (text) => spellings.reduce((masked, value) => masked.replaceAll(value, '[secret]'), text)
}
