import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { createToolRegistry } from '../src/domain/tool-registry.ts'
import { resolve } from './examples/library.ts'
import { tools } from './examples/tools.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'))
const text = new Map(pages.map((name) => [name, readFileSync(join(root, name), 'utf8')]))

describe('the pages', () => {
  it.each(['tools', 'library'])('show the example %s.ts as it runs here', (name) => {
    const example = readFileSync(join(root, `test/examples/${name}.ts`), 'utf8')

    expect(text.get(`docs/${name}.md`)).toContain(
      example.replaceAll('../../src/index.ts', 'stepwarden'),
    )
  })

  it.each(pages)('%s links to what is there', (page) => {
    const links = [...(text.get(page) ?? '').matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(
      ([, target]) => target ?? '',
    )

    const missing = links.filter((target) => !existsSync(join(root, dirname(page), target)))
    expect(missing).toEqual([])
  })
})

describe('the examples', () => {
  it('make an allowlist', () => {
    expect([...createToolRegistry(tools).current.keys()]).toEqual([
      'check_balance',
      'close_account',
    ])
  })

  it('answer a ticket that nothing fits, on a fresh folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stepwarden-docs-'))
    vi.spyOn(console, 'warn').mockImplementation(() => {})

    const reply = await resolve(folder, 'change my avatar')

    expect(reply).toContain('support team')
    rmSync(folder, { recursive: true, force: true })
  }, 60_000)
})
