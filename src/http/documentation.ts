import type { FastifyInstance } from 'fastify'
import { serviceVersion } from '../db/service-version.ts'
import { openApiDocument } from './openapi.ts'
import { referencePage } from './reference-page.ts'

/** Where to go from the address alone. */
const places = {
  docs: '/docs',
  openapi: '/openapi.json',
  api: '/v1',
  mcp: '/mcp',
  health: '/healthz',
  ready: '/readyz',
}

/**
 * `/` says where to go, `/openapi.json` is for programs and `/docs` for people: the latter from the registry, and all of them
 * open to everybody.
 */
export function addDocumentation(server: FastifyInstance): void {
  const document = openApiDocument(serviceVersion)
  const page = referencePage(document)
  server.get('/', async ({ headers }, reply) => {
    reply.header('vary', 'Accept')
    if (!/\btext\/html\b/.test(headers.accept ?? '')) {
      return { service: 'stepwarden', version: serviceVersion, links: places }
    }
    reply.type('text/html; charset=utf-8')
    return indexPage
  })
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

const indexPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Stepwarden</title>
<h1>Stepwarden ${serviceVersion}</h1>
<p>Governs and runs support playbooks. Send <code>Authorization: Bearer KEY</code> with each request.</p>
<ul>
${Object.entries(places)
  .map(([name, path]) => `<li><a href="${path}">${path}</a> (${name})</li>`)
  .join('\n')}
</ul>
</html>
`
