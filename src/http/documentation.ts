import type { FastifyInstance } from 'fastify'
import { serviceVersion } from '../db/service-version.ts'
import { openApiDocument } from './openapi.ts'
import { referencePage } from './reference-page.ts'

/** `/openapi.json` for programs and `/docs` for people: both from the registry, and open to everybody. */
export function addDocumentation(server: FastifyInstance): void {
  const document = openApiDocument(serviceVersion)
  const page = referencePage(document)
  server.get('/openapi.json', async () => document)
  server.get('/docs', async (_request, reply) => {
    reply.type('text/html; charset=utf-8')
    reply.header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    )
    return page
  })
}
