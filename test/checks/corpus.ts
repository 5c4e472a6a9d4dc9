import { readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shopTools } from '../../conformance/retail/tools.ts'
import { Stage } from '../../conformance/stage.ts'
import { createDeskTools } from '../../seeds/desk-tools.ts'
import type { CalledProcedure, FindProcedure } from '../../src/checks/called-procedure.ts'
import { readDocument } from '../../src/documents/read-document.ts'
import type { Definition } from '../../src/domain/definition.ts'
import { booleanType, objectType } from '../../src/domain/expression.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import type { ToolContract } from '../../src/domain/tool.ts'
import { createToolRegistry } from '../../src/domain/tool-registry.ts'
import { contractOf } from '../support/walk.ts'

/** A valid playbook, with the tools and procedures that it is valid with. */
export interface ValidPlaybook {
  readonly name: string
  readonly definition: Definition
  readonly contracts: ReadonlyMap<string, ToolContract>
  readonly findProcedure: FindProcedure
}

const nobody = () => Promise.reject(new Error('no tool is called here'))
const desk = createToolRegistry(
  createDeskTools({ findRefund: nobody, recordRefund: nobody, recordMessage: nobody }),
)
const voucher = contractOf('send_voucher', {
  effect: 'write',
  idempotent: false,
  input: {
    type: 'object',
    required: ['amount'],
    additionalProperties: false,
    properties: { amount: { type: 'number' }, customerId: { type: 'string' } },
  },
  output: {
    type: 'object',
    required: ['sent'],
    additionalProperties: false,
    properties: { sent: { type: 'boolean' } },
  },
})
const contracts: ReadonlyMap<string, ToolContract> = new Map([
  ...Array.from(desk.current, ([name, { contract }]) => [name, contract] as const),
  [voucher.name, voucher],
])

const identify: CalledProcedure = {
  input: {
    type: 'object',
    required: ['customerId'],
    properties: { customerId: { type: 'string' } },
  },
  output: objectType({ verified: booleanType }),
  mayDecline: true,
  calls: [],
}

const shop = new Map(
  shopTools(new Stage()).map(({ contract }) => [contract.name, contract] as const),
)

const folders: readonly (readonly [folder: string, contracts: ValidPlaybook['contracts']])[] = [
  ['../../seeds/procedures/', contracts],
  ['./playbooks/', contracts],
  ['../../conformance/playbooks/', shop],
]

/**
 * Every valid playbook at hand: those of the demo, those beside this file with a step of every kind, those of the
 * conformance suite that were written by hand, and those of the folders that STEPWARDEN_PLAYBOOKS lists. A folder may hold a `tools.json`, a list of contracts.
 */
export function validPlaybooks(): readonly ValidPlaybook[] {
  const more = (process.env.STEPWARDEN_PLAYBOOKS ?? '').split(delimiter).filter((one) => one !== '')
  const all = [
    ...folders.map(
      ([folder, own]) => [fileURLToPath(new URL(folder, import.meta.url)), own] as const,
    ),
    ...more.map((folder) => [folder, contracts] as const),
  ]
  return all.flatMap(([folder, usual]) => {
    const files = readdirSync(folder).sort()
    const own = files.includes('tools.json')
      ? (JSON.parse(readFileSync(join(folder, 'tools.json'), 'utf8')) as ToolContract[])
      : undefined
    return files
      .filter((file) => file !== 'tools.json' && /\.(ya?ml|json)$/.test(file))
      .map((name) => {
        const { value } = readDocument(readFileSync(join(folder, name), 'utf8'), { name })
        return {
          name,
          definition: requireDefinition(value),
          contracts: own === undefined ? usual : new Map(own.map((one) => [one.name, one])),
          findProcedure: (key: string) => (key === 'IDENTIFY_CUSTOMER' ? identify : 'none'),
        }
      })
  })
}
