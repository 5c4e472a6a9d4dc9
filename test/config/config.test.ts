import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { isServiceError } from '../../src/domain/errors.ts'

const key = 'sk-very-secret-123'

describe('readConfig', () => {
  it('knows no hosted model without a key, whatever else is set', () => {
    const config = readConfig(
      { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', STEPWARDEN_REPLY_MODEL: 'x' },
      '/',
    )

    expect(config.openai).toBeUndefined()
  })

  it('takes key, server and model of hosted models', () => {
    const { openai } = readConfig(
      {
        OPENAI_API_KEY: key,
        OPENAI_BASE_URL: 'https://x.example/openai/v1',
        STEPWARDEN_REPLY_MODEL: 'my-deployment',
      },
      '/',
    )

    expect(openai?.apiKey.reveal()).toBe(key)
    expect(openai).toMatchObject({
      baseUrl: 'https://x.example/openai/v1',
      replyModel: 'my-deployment',
    })
  })

  it('asks a model to reflect on runs only where one is named, and with a key', () => {
    const named = { STEPWARDEN_REFLECT_MODEL: 'gpt-mini' }

    expect(readConfig({ OPENAI_API_KEY: key }, '/').openai?.reflectModel).toBeUndefined()
    expect(readConfig({ OPENAI_API_KEY: key, ...named }, '/').openai?.reflectModel).toBe('gpt-mini')
    expect(() => readConfig(named, '/')).toThrow(/STEPWARDEN_REFLECT_MODEL.*OPENAI_API_KEY/)
  })

  it('asks a model to write proposals only where one is named, and with a key', () => {
    const named = { STEPWARDEN_PROPOSE_MODEL: 'gpt-big' }

    expect(readConfig({ OPENAI_API_KEY: key }, '/').openai?.proposeModel).toBeUndefined()
    expect(readConfig({ OPENAI_API_KEY: key, ...named }, '/').openai?.proposeModel).toBe('gpt-big')
    expect(() => readConfig(named, '/')).toThrow(/STEPWARDEN_PROPOSE_MODEL.*OPENAI_API_KEY/)
  })

  it('never shows a key, however the configuration is printed', () => {
    const config = readConfig({ OPENAI_API_KEY: key }, '/')

    const printed = [
      JSON.stringify(config),
      inspect(config, { depth: 9 }),
      `${config.openai?.apiKey}`,
    ]
    expect(printed.join('\n')).not.toContain('secret-123')
  })

  it.each([
    ['OPENAI_API_KEY', `${key} with spaces`],
    ['OPENAI_API_KEY', `${key}é`],
    ['OPENAI_BASE_URL', 'api.openai.com'],
    ['OPENAI_BASE_URL', 'ftp://x.example'],
    ['OPENAI_BASE_URL', `https://user:${key}@x.example`],
  ])('refuses %s = %s without repeating it', (name, value) => {
    let message = ''
    try {
      readConfig({ [name]: value }, '/')
    } catch (error) {
      message = inspect(error, { depth: 9 })
    }

    expect(message).toContain(name)
    expect(message).not.toContain(key)
  })
})

describe('the embedding model', () => {
  it('is named with the length of its vectors', () => {
    const { embeddingModel, embeddingDimensions } = readConfig(
      { STEPWARDEN_EMBEDDING_MODEL: 'nomic-embed-text', STEPWARDEN_EMBEDDING_DIMENSIONS: '768' },
      '/',
    )

    expect([embeddingModel, embeddingDimensions]).toEqual(['nomic-embed-text', 768])
  })

  it.each(['0', '4097', '1.5', 'many'])('has no vectors of %s dimensions', (dimensions) => {
    expect(() => readConfig({ STEPWARDEN_EMBEDDING_DIMENSIONS: dimensions }, '/')).toThrow(
      /STEPWARDEN_EMBEDDING_DIMENSIONS/,
    )
  })

  it('takes hosts of the own network that webhooks may reach, and refuses what is none', () => {
    const name = 'STEPWARDEN_WEBHOOK_ALLOW_HOSTS'

    const { webhooks } = readConfig({ [name]: 'desk.internal, 127.0.0.1:8080,[::1]' }, '/')

    expect(webhooks).toEqual({ allowHosts: ['desk.internal', '127.0.0.1:8080', '[::1]'] })
    expect(readConfig({}, '/').webhooks).toEqual({ allowHosts: [] })
    for (const wrong of ['https://desk.internal', 'desk internal', '*.internal']) {
      expect(() => readConfig({ [name]: wrong }, '/')).toThrow(name)
    }
  })
})

describe('who may pass', () => {
  const oidc = {
    STEPWARDEN_OIDC_ISSUER: 'https://login.example/realms/a',
    STEPWARDEN_OIDC_AUDIENCE: 'stepwarden',
  }

  it('is whoever has a key, fifty times a second, when nothing is said', () => {
    expect(readConfig({}, '/').access).toEqual({
      rateLimit: { perSecond: 50, burst: 200 },
    })
  })

  it('is whom an issuer has let in, with the roles of a map, in the tenant that is named', () => {
    const { access } = readConfig(
      {
        ...oidc,
        STEPWARDEN_TENANT: 'acme',
        STEPWARDEN_OIDC_ROLE_MAP: 'team=a=agent, owners=author,owners=approver',
        STEPWARDEN_RATE_LIMIT: 'off',
      },
      '/',
    )

    expect(access).toEqual({
      oidc: {
        issuer: 'https://login.example/realms/a',
        audience: 'stepwarden',
        rolesClaim: 'roles',
        roleMap: new Map([
          ['team=a', ['agent']],
          ['owners', ['author', 'approver']],
        ]),
        tenantId: 'acme',
      },
    })
  })

  it.each([
    [{ STEPWARDEN_OIDC_ISSUER: 'https://login.example' }, 'STEPWARDEN_OIDC_AUDIENCE'],
    [{ STEPWARDEN_OIDC_GROUPS_CLAIM: 'groups' }, 'STEPWARDEN_OIDC_ISSUER'],
    [{ ...oidc, STEPWARDEN_OIDC_ISSUER: 'http://login.example' }, 'https URL'],
    [{ ...oidc, STEPWARDEN_OIDC_ISSUER: 'https://login.example/?' }, 'https URL'],
    [{ ...oidc, STEPWARDEN_OIDC_ISSUER: 'http://127.0.0.1@login.example' }, 'https URL'],
    [{ ...oidc, STEPWARDEN_OIDC_ROLE_MAP: 'owners=root' }, "'owners=root'"],
    [{ ...oidc, STEPWARDEN_OIDC_ROLE_MAP: 'a=agent,' }, 'VALUE=ROLE'],
    [{ STEPWARDEN_RATE_LIMIT: '50' }, '50/200'],
    [{ STEPWARDEN_RATE_LIMIT: '0/1' }, 'nothing'],
  ])('is refused when it is unclear: %j', (variables, message) => {
    expect(() => readConfig(variables, '/')).toThrow(message)
  })
})

it('tells what does not go together beside what is wrong by itself, all at once', () => {
  const wrong = {
    STEPWARDEN_PORT: '99999',
    DATABASE_URL: 'mysql://desk',
    STEPWARDEN_DATA_DIR: 'data',
    STEPWARDEN_REFLECT_MODEL: 'gpt-mini',
    STEPWARDEN_OIDC_AUDIENCE: 'desk',
    STEPWARDEN_KEY: `sw_acme_${'x'.repeat(43)}`,
    STEPWARDEN_TENANT: 'other',
  }

  const problems = problemsOf(() => readConfig(wrong, '/'))

  expect(problems.map(({ path }) => path).sort()).toEqual([
    'DATABASE_URL',
    'STEPWARDEN_DATA_DIR',
    'STEPWARDEN_OIDC_ISSUER',
    'STEPWARDEN_PORT',
    'STEPWARDEN_REFLECT_MODEL',
    'STEPWARDEN_TENANT',
  ])
})

function problemsOf(read: () => unknown): readonly { readonly path: string }[] {
  try {
    read()
  } catch (error) {
    if (isServiceError(error, 'CONFIG_INVALID')) return error.details.problems
    throw error
  }
  return []
}
