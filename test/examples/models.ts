import type { StepwardenOptions } from '../../src/index.ts'

export function withModels(dataDir: string, apiKey: string): StepwardenOptions {
  return {
    database: { dataDir },
    // Only the key must be there. `baseUrl` names another server that speaks the same API.
    openai: { apiKey, replyModel: 'gpt-4.1-mini' },
    // At the top, not inside `openai`: an offline model has a name as well.
    embeddingModel: 'text-embedding-3-small',
  }
}
