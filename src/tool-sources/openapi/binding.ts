import type { JsonObject, JsonSchema } from '../../domain/json.ts'

/** A property of a tool's input that is sent outside of the body. */
export interface BoundParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  /** Of a list: `a=1&a=2`, or else `a=1,2`. */
  readonly explode: boolean
}

/** How an answer of a status is read. */
export interface BoundAnswer {
  /** `200`, or `2XX` for any success. */
  readonly status: string
  readonly content: 'json' | 'text' | 'none'
  readonly schema: JsonSchema
}

/**
 * How one operation is asked: what its document says, as far as it is needed. It is part of the tool's contract, so that
 * nothing of it changes under an approval.
 */
export interface Binding {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The server and the path, with `{name}` where a parameter stands. */
  readonly url: string
  readonly parameters: readonly BoundParameter[]
  /** The properties of the input that the body is made of; `whole` when it is one property called `body`. */
  readonly body?: { readonly mediaType: string; readonly fields: readonly string[] | 'whole' }
  readonly answers: readonly BoundAnswer[]
}

/** An operation as it was read: how it is asked, and what goes in and comes out. */
export interface ReadOperation {
  readonly binding: Binding
  readonly description: string
  readonly input: JsonSchema
  readonly output: JsonSchema
}

/** A binding as a contract holds it, beside the schemas. */
export function bindingJson({ method, url, parameters, body, answers }: Binding): JsonObject {
  return {
    method,
    url,
    parameters: parameters.map((parameter) => ({ ...parameter })),
    ...(body && { body: { ...body } }),
    answers: answers.map(({ status, content }) => ({ status, content })),
  }
}
