import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { createToolRegistry } from '../src/domain/tool-registry.ts'
import { createStepwarden } from '../src/index.ts'
import { resolve } from './examples/library.ts'
import { withModels } from './examples/models.ts'
import { loadAndResolve } from './examples/playbook.ts'
import { tools } from './examples/tools.ts'
import { storeAndWork } from './examples/work.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'))
const text = new Map(pages.map((name) => [name, readFileSync(join(root, name), 'utf8')]))

describe('the pages', () => {
  it.each([
    ['tools', 'tools'],
    ['library', 'library'],
    ['playbook', 'library'],
    ['models', 'library'],
    ['work', 'library'],
    ['receiver', 'webhooks'],
    ['lessons', 'lessons'],
    ['guided', 'guided'],
    ['learning', 'learning'],
  ])('show the example %s.ts as it runs here', (name, page) => {
    const example = readFileSync(join(root, `test/examples/${name}.ts`), 'utf8')

    expect(text.get(`docs/${page}.md`)).toContain(
      example.replaceAll('../../src/index.ts', 'stepwarden'),
    )
  })

  it('show the sources of the example as they are in its file', () => {
    const example = readFileSync(join(root, 'docs/examples/parcels/sources.yaml'), 'utf8')

    expect(text.get('docs/sources.md')).toContain(example)
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

  it('load a playbook, answer a ticket with it, and work on a stored run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stepwarden-docs-'))
    const said = vi.spyOn(console, 'log').mockImplementation(() => {})
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
    warned.mockClear()

    const reply = await loadAndResolve(folder, 'Where is my refund for TXN-REFUND-003?')

    expect(reply).toBe('Your refund is processing.')
    expect(said).toHaveBeenCalledWith('search', { transactionId: 'text' })
    expect(warned).not.toHaveBeenCalled()

    // What the page does next.
    expect(await storeAndWork(folder)).toBe('resolved')
    expect(said).toHaveBeenCalledWith('carried on', expect.stringMatching(/^exec_/))
    rmSync(folder, { recursive: true, force: true })
  }, 60_000)

  it('begin with the hosted model that the options name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stepwarden-docs-'))
    const roles = ['admin'] as const
    const admin = { id: 'eve', kind: 'human', roles, groups: [], tenantId: 'default' } as const
    const stepwarden = await createStepwarden(withModels(folder, 'sk-test'))

    const { models } = await stepwarden.as(admin).getEmbeddings({})

    expect(models.find(({ isCurrent }) => isCurrent)?.model).toBe('text-embedding-3-small')
    await stepwarden[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }, 60_000)
})
