import { existsSync, readFileSync } from 'node:fs'

/** The version of this package, `MAJOR.MINOR.PATCH`: what a schema's `minCodeVersion` is compared with. */
export const serviceVersion: string = readServiceVersion()

function readServiceVersion(): string {
  // The package is two folders up from the sources and three from what is built of them (dist/src/db).
  for (const path of ['../../package.json', '../../../package.json']) {
    const file = new URL(path, import.meta.url)
    if (!existsSync(file)) continue
    const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'))
    return version
  }
  throw new Error('The package has no package.json; it was installed incompletely.')
}

/** Compares two versions of the form `MAJOR.MINOR.PATCH` by their numbers: negative, 0 or positive. */
export function compareVersions(a: string, b: string): number {
  const right = b.split('.').map(Number)
  for (const [index, number] of a.split('.').map(Number).entries()) {
    const difference = number - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
