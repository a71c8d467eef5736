import { createBreaker } from '../../core/create-breaker.ts'
import { createSwitchgear } from '../../core/switchgear.ts'
import type { SwitchgearOptions } from '../../core/switchgear-options.ts'
import { optionFault } from '../../yaml/option-fault.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { isBag } from './shape.ts'
import type { Path, YamlSource } from './yaml-source.ts'

/** Notes what a breaker would refuse of the options at `path`, on its line. */
export function checkBreakerOptions(options: unknown, path: Path, source: YamlSource): void {
  tryOut(path, source, () => createBreaker({ ...(options as object), ...around() }).dispose())
}

/** … a switchgear; whatever its targets are played by. */
export function checkSwitchgearOptions(options: unknown, path: Path, source: YamlSource): void {
  const { targets, ...others } = options as SwitchgearOptions
  const invoke = () => Promise.reject(new Error('only tried out'))
  const played = targets.map((target) => (isBag(target) ? { ...target, invoke } : target))
  tryOut(path, source, () => void createSwitchgear({ ...others, targets: played, ...around() }).close())
}

const around = () => ({ clock: new VirtualClock(), random: () => 0.5 })

function tryOut(root: Path, source: YamlSource, make: () => void): void {
  try {
    make()
  } catch (error) {
    const { path, text } = optionFault(error)
    source.fault([...root, ...path], /^(?:is|lacks|has) /.test(text) ? `This ${text}` : text)
  }
}
