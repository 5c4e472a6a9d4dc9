import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../../src/domain/json.ts'
import type { ReceivedRequest, ResponseStep } from './openai-server.ts'

/** What the service sent to the model. */
export function inputOf({ body }: ReceivedRequest): JsonObject {
  const input: unknown = JSON.parse(String(body.input))
  return isJsonObject(input) ? input : {}
}

export interface SentFact {
  readonly mark: string
  readonly name: string
  readonly value: Json
}

export function factsOf(request: ReceivedRequest): readonly SentFact[] {
  return z
    .array(z.object({ mark: z.string(), name: z.string(), value: z.any() }))
    .parse(inputOf(request).facts)
}

/** A model that writes these sentences; `{refund state}` stands for the mark of the fact with that name. */
export function writes(...texts: readonly string[]) {
  return (request: ReceivedRequest): ResponseStep => {
    const facts = factsOf(request)
    const sentences = texts.map((template) => {
      const used: { mark: string; name: string }[] = []
      const text = template.replace(/\{(.+?)\}/g, (_, name: string) => {
        const mark = facts.find((fact) => fact.name === name)?.mark ?? 'f999'
        used.push({ mark, name })
        return `[[${mark}]]`
      })
      return { text, facts: used }
    })
    return { json: { sentences } }
  }
}
