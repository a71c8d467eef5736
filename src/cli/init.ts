import { writeFileSync } from 'node:fs'
import { extname } from 'node:path'

import { Command } from 'commander'

import type { Starter } from '../gateway/config/starter-config.ts'

const help = `
Keys are looked for in OPENAI_API_KEY, AZURE_OPENAI_API_KEY (with AZURE_OPENAI_ENDPOINT), ANTHROPIC_API_KEY,
GEMINI_API_KEY, MISTRAL_API_KEY, GROQ_API_KEY, DEEPSEEK_API_KEY, XAI_API_KEY, TOGETHER_API_KEY, FIREWORKS_API_KEY,
CEREBRAS_API_KEY and OPENROUTER_API_KEY. The file names the variables; no key is written.`

/** `switchgear init`: writes a first configuration for the keys in the environment. */
export function initCommand(): Command {
  return new Command('init')
    .description('write a first configuration for the keys found in the environment')
    .argument('[file]', 'where to', 'gateway.yaml')
    .option('--force', 'overwrite a file that is there', false)
    .addHelpText('after', help)
    .action(async (file: string, options: { readonly force: boolean }, command: Command) => {
      if (!/^\.ya?ml$/.test(extname(file))) {
        return command.error(`error: ${file} must end in .yaml: what is written has comments.`)
      }
      const { starterConfig } = await import('../gateway/config/starter-config.ts')
      const starter = starterConfig(process.env)
      try {
        writeFileSync(file, starter.text, { flag: options.force ? 'w' : 'wx' })
      } catch (error) {
        return command.error(`error: ${file}: ${reason(error)}`)
      }
      const { checkConfig } = await import('../gateway/config/check-config.ts')
      const { faultLine } = await import('../gateway/config/read-config.ts')
      const faults = checkConfig(starter.text, process.env).faults.map((fault) => faultLine(file, fault))
      command.configureOutput().writeOut?.(told(file, starter, faults))
    })
}

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'is already there and stays as it is; --force overwrites it.',
  ENOENT: 'there is no such directory.',
  ENOTDIR: 'there is no such directory.',
  EISDIR: 'is a directory.',
  EACCES: 'may not be written here.',
  EROFS: 'may not be written here.',
}

function reason(error: unknown): string {
  const { code } = error as { code?: string }
  const known = REASONS[code ?? '']
  if (known === undefined) throw error
  return known
}

function told(
  file: string,
  { targets, variables, notes, isPlaceholder }: Starter,
  faults: readonly string[],
): string {
  const what = isPlaceholder
    ? `no key was found in the environment. Set ${variables.join(', ')}, or put in providers of your own`
    : `${targets.join(', ')}, from ${variables.join(', ')}`
  const lines = [`Wrote ${file}: ${what}.`]
  // a variable may hold something else than an address or a key
  if (faults.length > 0) lines.push('To be mended first:', ...faults)
  if (notes.length > 0) lines.push('Note:', ...notes.map((note) => note.replaceAll(/^/gm, '  ')))
  lines.push('Next:', `  switchgear validate ${file}`, `  switchgear serve --config ${file}`)
  return `${lines.join('\n')}\n`
}
