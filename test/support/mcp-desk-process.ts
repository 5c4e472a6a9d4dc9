import { existsSync } from 'node:fs'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createMcpDesk } from './mcp-desk.ts'

const [ledger = ''] = process.argv.slice(2)
if (process.env.DESK_TOKEN === undefined) {
  process.stderr.write('this desk needs a DESK_TOKEN\n')
  process.exit(1)
}
await createMcpDesk({ ledger, changed: existsSync(`${ledger}.changed`) }).connect(
  new StdioServerTransport(),
)
