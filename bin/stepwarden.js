#!/usr/bin/env node
// The command of both a checkout and the published package. Plain JavaScript, so that any Node can read it and say
// what is wrong when it is too old for the rest.
import { existsSync } from 'node:fs'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `stepwarden needs Node.js 20.19 or newer, and this is ${process.versions.node}. ` +
      'Install a newer Node.js, then run the command again.',
  )
  process.exit(1)
}

// The published package holds no src/, so this is a checkout: run what stands there, with no build to forget.
const source = new URL('../src/cli/main.ts', import.meta.url)
if (existsSync(source)) {
  const { register } = await import('tsx/esm/api')
  register()
  await import(source.href)
} else {
  await import('../dist/src/cli/main.js')
}
