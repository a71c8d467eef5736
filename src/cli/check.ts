import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { parse } from 'yaml'
import { isSwitchgearError } from '../core/errors.ts'
import { parseScenario } from '../testing/scenario/parse.ts'
import { runScenario } from '../testing/scenario/run-scenario.ts'
import type { ScenarioFailure } from '../testing/scenario/scenario.ts'

/** What came of one file. */
interface Checked {
  readonly file: string
  readonly name?: string
  readonly passed: boolean
  readonly failure?: ScenarioFailure
  /** Why it could not be played at all; names the file itself. */
  readonly fault?: string
}

/** `switchgear check`: plays scenario files and says which step does not hold. Exit code 1 when one does not. */
export function checkCommand(): Command {
  return new Command('check')
    .description('play scenario files in virtual time and print the first step that does not hold')
    .argument('<file...>', 'scenario files, or directories of .yaml files')
    .option('--json', 'print one JSON object', false)
    .action(async (paths: string[], options: { readonly json: boolean }, command: Command) => {
      const write = (text: string) => command.configureOutput().writeOut?.(`${text}\n`)
      const results: Checked[] = []
      for (const path of paths) {
        for (const entry of await scenariosIn(path)) {
          const result = typeof entry === 'string' ? await check(entry) : entry
          results.push(result)
          if (!options.json) write(line(result))
        }
      }
      const passed = results.filter((result) => result.passed).length
      const failed = results.length - passed
      write(
        options.json
          ? JSON.stringify({ passed, failed, files: results }, null, 2)
          : `${passed} passed, ${failed} failed`,
      )
      if (failed > 0) process.exitCode = 1
    })
}

function line({ file, name, passed, failure, fault }: Checked): string {
  if (passed) return `ok ${name}`
  if (failure === undefined) return `FAIL ${fault}`
  const place = failure.line === undefined ? '' : ` (line ${failure.line})`
  return `FAIL ${file}: step ${failure.step}: ${failure.what}${place}`
}

async function check(file: string): Promise<Checked> {
  try {
    const text = await readFile(file, 'utf8')
    if (isLoad(text)) {
      const advice = `this is a load, not a scenario. Play it with: switchgear simulate ${file}`
      return { file, passed: false, fault: `${file}: ${advice}` }
    }
    return { file, ...(await runScenario(parseScenario(text, file))) }
  } catch (error) {
    if (isSwitchgearError(error) && error.code === 'ERR_CONFIG')
      return { file, passed: false, fault: error.message }
    return fault(file, error)
  }
}

/** What is no YAML at all is told of by whoever reads it in earnest. */
function isLoad(text: string): boolean {
  try {
    return (parse(text) as { readonly kind?: unknown } | null)?.kind === 'load'
  } catch {
    return false
  }
}

/** The files a path stands for, sorted; a directory is read to the bottom. */
async function scenariosIn(path: string): Promise<readonly (string | Checked)[]> {
  try {
    const found = await stat(path)
    if (found.isFile()) return [path]
    if (!found.isDirectory()) return [{ file: path, passed: false, fault: `${path}: this is no file.` }]
    // entries know what they are: no link is followed, no pipe is opened, and a folder may be called x.yaml
    const entries = await readdir(path, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    if (files.length > 0) return files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()
    return [{ file: path, passed: false, fault: `${path}: there is no .yaml file in this directory.` }]
  } catch (error) {
    return [fault(path, error)]
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file.',
  ENOTDIR: 'there is no such file.',
  EACCES: 'this may not be read.',
  EISDIR: 'this is a directory.',
  ELOOP: 'this link leads back to itself.',
}

function fault(file: string, error: unknown): Checked {
  const { code } = error as { code?: string }
  const reason = REASONS[code ?? '']
  // anything else is a fault of ours, not of the file
  if (reason === undefined) throw error
  return { file, passed: false, fault: `${file}: ${reason}` }
}
