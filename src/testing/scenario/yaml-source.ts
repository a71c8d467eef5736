import { ConfigError } from '../../core/errors.ts'
import { YamlFile } from '../../yaml/yaml-file.ts'
import type { YamlFault, YamlPath } from '../../yaml/yaml-file.ts'

export type Path = YamlPath

interface Fault {
  readonly path: string
  readonly line: number
  readonly what: string
  readonly right: string | undefined
}

/** `steps[2].expect` */
export const pathText = (path: Path) =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? key : `${text}.${key}`
  }, '')

/** A YAML text that knows its lines, and collects what is wrong with it. */
export class YamlSource {
  readonly value: unknown
  readonly #file: string
  readonly #yaml: YamlFile
  readonly #faults: Fault[] = []

  /** @throws ConfigError for what is no YAML, or another one than was meant */
  constructor(text: string, file = 'scenario') {
    this.#file = file
    this.#yaml = new YamlFile(text)
    throwSyntax(file, this.#yaml.faults)
    const { value, fault } = this.#yaml.read()
    throwSyntax(file, fault === undefined ? [] : [fault])
    this.value = value
  }

  /** The line of a value; of the nearest thing around it where it is missing. */
  lineOf(path: Path): number {
    return this.#yaml.lineOf(path)
  }

  /** Notes a fault: what is wrong and what would be right, as sentences. */
  fault(path: Path, what: string, right?: string): void {
    this.#faults.push({ path: pathText(path) || 'scenario', line: this.lineOf(path), what, right })
  }

  /** @throws ConfigError that names every fault, one a line */
  throwFaults(): void {
    const [first, ...others] = this.#faults.toSorted((a, b) => a.line - b.line)
    if (first === undefined) return
    const { path, line, right } = first
    const text = ({ path, line, what }: Fault) => `${this.#file}:${line} ${path}: ${what}`
    const whole = (fault: Fault) =>
      fault.right === undefined ? text(fault) : `${text(fault)} ${fault.right}`
    if (others.length > 0) throw new ConfigError([first, ...others].map(whole).join('\n'), { path, line })
    throw new ConfigError(text(first), { path, line, ...(right !== undefined && { hint: right }) })
  }
}

function throwSyntax(file: string, faults: readonly YamlFault[]): void {
  const [first] = faults
  if (first === undefined) return
  const told = faults.map(
    ({ line, column, text, excerpt }) => `${file}:${line}:${column}: ${text}\n${excerpt}`,
  )
  throw new ConfigError(told.join('\n'), { line: first.line })
}
