import { lockDataFolder } from '../../src/db/data-folder-lock.ts'
import { isServiceError } from '../../src/domain/errors.ts'

// A process that waits for a word, tries to lock a folder, says how that went, and lives until its input ends.
const [folder = ''] = process.argv.slice(2)
process.stdin.once('data', () => {
  try {
    lockDataFolder(folder)
    process.stdout.write('locked\n')
  } catch (error) {
    process.stdout.write(`${isServiceError(error) ? error.code : String(error)}\n`)
  }
})
process.stdin.once('end', () => process.exit())
process.stdout.write('ready\n')
