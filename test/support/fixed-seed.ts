import fc from 'fast-check'

// the same sequences in every run; FAST_CHECK_SEED=random looks for new ones, a number repeats a finding
const wanted = process.env['FAST_CHECK_SEED'] ?? '20261130'
if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) })
