import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { FileProblem } from '../domain/problem.ts'
import { usageError } from './failures.ts'

/** The YAML files below a folder, in ascending order, and what there is that cannot be read as one. */
export interface ListedFiles {
  readonly files: readonly string[]
  readonly problems: readonly FileProblem[]
}

const isYaml = (file: string): boolean => /\.ya?ml$/i.test(file)

/**
 * Lists the YAML files of a folder and of all folders in it, but for hidden ones and those of packages. A symbolic link
 * counts as the file that it leads to; one that leads out of the folder, to a folder or to nothing is a problem.
 *
 * @throws ServiceError `USAGE_INVALID` for what is no folder.
 */
export function listPlaybookFiles(folder: string): ListedFiles {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw usageError(`${folder} is no folder.`, 'Name the folder that holds the playbooks.')
  }
  const listing = new Listing(realpathSync(folder))
  listing.visit(folder)
  return listing
}

/** Whether a path, with all links followed, lies in a folder. */
export function isInside(realFolder: string, realPath: string): boolean {
  return realPath === realFolder || realPath.startsWith(`${realFolder}${sep}`)
}

class Listing implements ListedFiles {
  readonly files: string[] = []
  readonly problems: FileProblem[] = []
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  visit(folder: string): void {
    for (const entry of this.#entriesOf(folder)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const path = join(folder, entry.name)
      if (entry.isDirectory()) this.visit(path)
      else if (entry.isSymbolicLink()) this.#visitLink(path)
      else if (!isYaml(path)) continue
      else if (entry.isFile()) this.files.push(path)
      else this.#refuse(path, 'is no regular file; remove it')
    }
  }

  #entriesOf(folder: string): readonly Dirent[] {
    try {
      const entries = readdirSync(folder, { withFileTypes: true })
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    } catch (error) {
      this.#refuse(folder, `cannot be read: ${error instanceof Error ? error.message : error}`)
      return []
    }
  }

  #visitLink(path: string): void {
    const target = statSync(path, { throwIfNoEntry: false })
    if (target === undefined) {
      if (isYaml(path)) this.#refuse(path, 'is a symbolic link to nothing; remove it')
    } else if (target.isDirectory()) {
      this.#refuse(path, 'is a symbolic link to a folder; put the folder itself there')
    } else if (isYaml(path)) {
      if (!isInside(this.#root, realpathSync(path))) {
        this.#refuse(path, 'is a symbolic link out of the folder; put the file itself there')
      } else if (target.isFile()) this.files.push(path)
      else this.#refuse(path, 'leads to no regular file; remove it')
    }
  }

  #refuse(file: string, message: string): void {
    this.problems.push({ file, path: '', message })
  }
}
