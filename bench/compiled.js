/**
 * Runs a measurement as compiled JavaScript, which is what users of the package run: `node bench/compiled.js NAME …`
 * compiles bench/NAME.ts with all that it needs into a folder of its own, and imports it with the arguments that follow.
 * (tsx wraps every inner function to keep its name: 75 µs an execution that nobody else pays.)
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [name = ''] = process.argv.slice(2)

// Below node_modules, so that packages are found from there; new each time, so that nothing in it is stale.
const cache = join(root, 'node_modules', '.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'stepwarden-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

console.error('compiling (some seconds)')
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.bench.json', '--outDir', folder], {
  cwd: root,
  // Standard output is the measurement's own.
  stdio: ['ignore', 2, 2],
})
copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))

const script = join(folder, 'bench', `${name}.js`)
process.argv.splice(1, 2, script)
await import(pathToFileURL(script).href)
